(() => {
  "use strict";
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const field = (id) => document.getElementById(id);

  /* plots: CSS variables in a figure are replaced by the theme's colours */
  const themed = (value) => {
    const style = getComputedStyle(document.documentElement);
    const text = JSON.stringify(value).replace(/var\((--[a-z]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
    return JSON.parse(text);
  };
  const narrow = matchMedia("(max-width: 760px)");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  /* only these buttons: by default plotly also offers to send a chart to its makers' server */
  const config = {
    responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "",
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
  };
  const draw = () => {
    for (const [name, figure] of Object.entries(figures)) {
      const place = field("chart-" + name);
      const { data, layout } = themed(figure);
      const style = getComputedStyle(document.documentElement);
      const colour = (variable) => style.getPropertyValue(variable).trim();
      const axis = { gridcolor: colour("--grid"), linecolor: colour("--line"), tickcolor: colour("--line"), ticks: "outside", automargin: true, fixedrange: narrow.matches };
      Object.assign(layout.xaxis, axis);
      Object.assign(layout.yaxis, axis);
      Object.assign(layout, {
        paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: colour("--ink") },
        margin: { l: 60, r: 18, t: 12, b: 50 },
        modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--muted"), activecolor: colour("--ink") },
        hoverlabel: { align: "left", bgcolor: colour("--raised"), bordercolor: colour("--line"), font: { color: colour("--ink"), size: 12 } },
      });
      Plotly.newPlot(place, data, layout, config);
      place.removeAllListeners && place.removeAllListeners("plotly_click");
      place.on("plotly_click", (event) => reveal(event.points[0].customdata));
    }
  };
  const reveal = (key) => {
    const row = key && document.getElementById("t-" + key);
    if (!row) return;
    field("filters").reset();
    filter();
    rows.forEach((other) => other.classList.toggle("found", other === row));
    row.scrollIntoView({ block: "center", behavior: "smooth" });
  };
  if (window.Plotly) {
    draw();
    dark.addEventListener("change", draw);
    narrow.addEventListener("change", draw);
  }

  /* table: sorted by a heading, missing figures last either way */
  const sortBy = (head, index) => {
    const down = head.getAttribute("aria-sort") !== "descending" && (head.classList.contains("n") || head.getAttribute("aria-sort") === "ascending");
    const numeric = head.classList.contains("n");
    const value = (row) => row.cells[index].dataset.v ?? row.cells[index].textContent;
    const compare = (a, b) => {
      const x = value(a), y = value(b);
      if (x === "" || y === "") return (x === "") - (y === "");
      const order = numeric ? Number(x) - Number(y) : x.localeCompare(y);
      return down ? -order : order;
    };
    table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.sort(compare));
  };
  Array.from(table.tHead.rows[0].cells).forEach((head, index) => {
    head.querySelector("button").addEventListener("click", () => sortBy(head, index));
  });

  const filter = () => {
    const words = field("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const family = field("family").value, backend = field("backend").value;
    let shown = 0;
    for (const row of rows) {
      const text = Array.from(row.cells, (cell) => cell.textContent).join(" ").toLowerCase();
      const kept = words.every((word) => text.includes(word)) && (!family || row.dataset.family === family) &&
        (!backend || row.dataset.backend === backend) && (!field("feasible").checked || row.dataset.feasible === "1");
      row.hidden = !kept;
      shown += kept;
    }
    table.classList.toggle("all", field("extra").checked);
    field("shown").textContent = shown + " of " + rows.length + " shown";
  };
  field("filters").addEventListener("input", filter);
  field("filters").addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
