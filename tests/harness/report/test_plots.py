import pytest

from harness.report import model, plots


@pytest.mark.parametrize("name", ["$a$b$", "價格", "a_{", "<b>", "x" * 300])
def test_any_name_can_be_drawn(context, trial, summarise, name):
    corpus = {"name": name, "documents": 1, "queries": 1, "skipped": {}}
    reference = [{"name": name, "quality": {"nDCG@10": 0.9}}]
    summary = summarise([trial("0a", name, name)], corpus=corpus, reference=reference)
    images = plots.draw(model.build(summary, context()))
    assert all(image.startswith(b"\x89PNG") for image in images.values())


def test_settings_of_a_person_change_nothing(context, study):
    import matplotlib

    report = model.build(study("one trial"), context())
    before = plots.draw(report)
    with matplotlib.rc_context({"font.size": 30, "savefig.bbox": "tight", "axes.grid": True}):
        assert plots.draw(report) == before
