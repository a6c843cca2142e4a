"""Vocabulary of the built-in catalogue: invented brands, and what shops say about goods.

Order matters: earlier entries are more frequent, and any change of this module changes every
generated catalogue (raise `catalogue.VERSION` with it).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of goods.

    Attributes:
        department: key of `BRANDS`.
        nouns: what shops call it, synonyms.
        axes: keys of `AXES` in which the variants of a product line differ, one or two.
        materials: of which a line has one.
        features: (part, what it does).
        uses: that follow "for".
    """

    department: str
    nouns: tuple[str, ...]
    axes: tuple[str, ...]
    materials: tuple[str, ...]
    features: tuple[tuple[str, str], ...]
    uses: tuple[str, ...]


def _split(text: str, separator: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator))


def _category(block: str) -> Category:
    department, nouns, axes, materials, features, uses = block.strip().split("\n")
    pairs = (_split(feature, ":") for feature in _split(features, ";"))
    return Category(
        department=department,
        nouns=_split(nouns, ","),
        axes=_split(axes, ","),
        materials=_split(materials, ","),
        features=tuple((part, benefit) for part, benefit in pairs),
        uses=_split(uses, ","),
    )


BRANDS = {
    "wear": _split(
        "Norvella, Tessaro, Halvik, Brunmoor, Casolette, Varnholm, Ostrava Mills, Pellworth, "
        "Lindqvara, Merrowby, Aldessa, Fennimore & Sons, Kestrane, Solvaggio, Wexmere, Jorunda, "
        "Quillan, Ravensby, Ilvano, Thornelle, Duskfield, Maravo, Eskelin, Cordwayne",
        ",",
    ),
    "tech": _split(
        "Voltara, Nexum, Quantrel, Sonivox, Arctek, Lumidyne, Zephira, Kyonix, Teralink, Ondaro, "
        "Bytewell, Cirrano, Maxtron, Pixelar, Ohmega, Hexaware, Vantis, Relyon, Trivanta, Aurix, "
        "Fluxon, Domotek, Sygnal, Optiva",
        ",",
    ),
    "kitchen": _split(
        "Culinova, Brasetto, Kokkina, Stellamore, Pannhof, Vervain, Hearthly, Gusteau & Finch, "
        "Morello, Dampfer, Nordkessel, Saltbury, Ferrugia, Tavolo, Copperlane, Zestra, Mirabelle, "
        "Oakhearth, Simmerfield, Kitsune, Bellacotta, Grindwell, Larder & Co, Prepwise",
        ",",
    ),
    "home": _split(
        "Hjemvik, Dormello, Lanternwood, Casavida, Softmere, Plumeria, Velouria, Fjordhus, "
        "Woolsey, Ambrelle, Nestling, Tidewell, Cozara, Heimgard, Linnet Lane, Sundholm, Palisade, "
        "Orderly, Luxaria, Embervale, Loomfield, Cedarhall, Brightnook, Drapery Row",
        ",",
    ),
    "outdoor": _split(
        "Trailmark, Bergsund, Altivo, Summitra, Rovanna, Campwell, Stormgard, Nordwand, Ridgeline, "
        "Hydrako, Pacefield, Velocci, Kaldera, Wildermoor, Terravox, Fjellro, Cragmont, Openmile, "
        "Sierrano, Driftway, Gravelo, Tundrik, Wayfarer Nine, Peakform",
        ",",
    ),
    "tools": _split(
        "Hammerfell, Torqen, Werkmann, Ironbark, Schraubwerk, Bladewell, Grundmann, Fixora, "
        "Toolbury, Garvo, Kraftig, Verdano, Mulchmaster, Anvilo, Dremmond, Steelgate, Rivetta, "
        "Greenhold, Spadework, Boltano, Hofmark, Plumbline, Sawtelle, Turnwright",
        ",",
    ),
    "family": _split(
        "Pawsome Lane, Minimoo, Tumblekin, Cuddlewick, Purelle, Botanika, Scriva, Papyra, "
        "Whiskerby, Bonbini, Lullabee, Dermissa, Inkwell & Rye, Fetchling, Sproutly, Gigglewood, "
        "Aquavelle, Notaro, Barkfield, Milkmoon, Rosemere, Kindertal, Playhaven, Soapwort",
        ",",
    ),
}

# Forms of one value, parted by "/": as the maker writes it, in other words, abbreviated.
_AXES = {
    "colour": "black/jet black/blk; white/snow white/wht; grey/gray/gry; navy blue/dark blue/navy; "
    "red/crimson/rd; green/forest green/grn; beige/sand/bge; silver/silver-tone/slv; "
    "blue/royal blue/blu; brown/chocolate brown/brn; pink/rose/pnk; anthracite/charcoal/anth; "
    "olive/olive green/olv; turquoise/teal/turq; burgundy/wine red/burg; yellow/mustard/yel; "
    "purple/violet/prp; orange/burnt orange/orng; cream/ivory/crm; copper/copper-tone/cop",
    "clothing": "M/medium/med; L/large/lge; S/small/sml; XL/extra large/x-large; "
    "XS/extra small/x-small; XXL/2XL/xx-large",
    "shoes": "EU 42/size 42/42; EU 41/size 41/41; EU 43/size 43/43; EU 40/size 40/40; "
    "EU 39/size 39/39; EU 44/size 44/44; EU 38/size 38/38; EU 45/size 45/45; EU 37/size 37/37",
    "storage": "256 GB/256 gigabyte/256GB; 128 GB/128 gigabyte/128GB; 512 GB/512 gigabyte/512GB; "
    "64 GB/64 gigabyte/64GB; 1 TB/1000 GB/1TB; 2 TB/2000 GB/2TB",
    "screen": "24 inch/61 cm/24in; 27 inch/69 cm/27in; 32 inch/81 cm/32in; 43 inch/109 cm/43in; "
    "55 inch/140 cm/55in; 65 inch/165 cm/65in",
    "battery": "10000 mAh/10 Ah/10k mAh; 5000 mAh/5 Ah/5k mAh; 20000 mAh/20 Ah/20k mAh; "
    "15000 mAh/15 Ah/15k mAh; 26800 mAh/26.8 Ah/26.8k mAh",
    "cable": "1 m/100 cm/1m; 2 m/200 cm/2m; 0.5 m/50 cm/0.5m; 3 m/300 cm/3m; 5 m/500 cm/5m; "
    "10 m/1000 cm/10m; 15 m/1500 cm/15m",
    "volume": "500 ml/0.5 litre/500ml; 750 ml/0.75 litre/750ml; 1 litre/1000 ml/1L; "
    "350 ml/0.35 litre/350ml; 1.5 litre/1500 ml/1.5L; 250 ml/0.25 litre/250ml",
    "litres": "1.7 litre/1700 ml/1.7L; 3 litre/3000 ml/3L; 1.2 litre/1200 ml/1.2L; "
    "5 litre/5000 ml/5L; 2 litre/2000 ml/2L; 6.5 litre/6500 ml/6.5L",
    "bag": "20 litre/20 l/20L; 30 litre/30 l/30L; 45 litre/45 l/45L; 15 litre/15 l/15L; "
    "65 litre/65 l/65L; 80 litre/80 l/80L",
    "diameter": "24 cm/240 mm/24cm; 28 cm/280 mm/28cm; 20 cm/200 mm/20cm; 26 cm/260 mm/26cm; "
    "32 cm/320 mm/32cm; 16 cm/160 mm/16cm",
    "power": "1200 W/1.2 kW/1200W; 800 W/0.8 kW/800W; 2000 W/2 kW/2000W; 1500 W/1.5 kW/1500W; "
    "600 W/0.6 kW/600W; 2400 W/2.4 kW/2400W",
    "voltage": "18 V/18 volt/18V; 12 V/12 volt/12V; 36 V/36 volt/36V; 20 V/20 volt/20V",
    "light": "806 lm/60 W equivalent/806lm; 470 lm/40 W equivalent/470lm; "
    "1521 lm/100 W equivalent/1521lm; 250 lm/25 W equivalent/250lm",
    "bedding": "135 x 200 cm/single/135x200; 155 x 220 cm/large single/155x220; "
    "200 x 200 cm/double/200x200; 240 x 220 cm/king size/240x220; 90 x 200 cm/twin/90x200",
    "cushion": "40 x 40 cm/400 x 400 mm/40x40; 50 x 50 cm/500 x 500 mm/50x50; "
    "30 x 50 cm/300 x 500 mm/30x50; 60 x 60 cm/600 x 600 mm/60x60",
    "rug": "120 x 170 cm/1.2 x 1.7 m/120x170; 160 x 230 cm/1.6 x 2.3 m/160x230; "
    "80 x 150 cm/0.8 x 1.5 m/80x150; 200 x 290 cm/2 x 2.9 m/200x290",
    "tent": "2 person/two-man/2P; 3 person/three-man/3P; 4 person/four-man/4P; 6 person/six-man/6P",
    "pack": "pack of 2/set of two/2 pcs; pack of 4/set of four/4 pcs; single/one piece/1 pc; "
    "pack of 6/set of six/6 pcs; pack of 10/set of ten/10 pcs; pack of 12/one dozen/12 pcs",
    "weight": "1 kg/1000 g/1kg; 500 g/0.5 kg/500g; 2 kg/2000 g/2kg; 250 g/0.25 kg/250g; "
    "5 kg/5000 g/5kg; 10 kg/10000 g/10kg; 15 kg/15000 g/15kg",
    "cosmetic": "50 ml/1.7 fl oz/50ml; 100 ml/3.4 fl oz/100ml; 30 ml/1 fl oz/30ml; "
    "200 ml/6.8 fl oz/200ml; 250 ml/8.5 fl oz/250ml",
    "paper": "A5/148 x 210 mm/DIN A5; A4/210 x 297 mm/DIN A4; A6/105 x 148 mm/DIN A6",
    "age": "0-6 months/newborn/0-6m; 6-12 months/half to one year/6-12m; "
    "12-18 months/from one year/12-18m; 18-24 months/up to two years/18-24m",
}

AXES = {
    name: tuple(_split(value, "/") for value in _split(values, ";"))
    for name, values in _AXES.items()
}

LABELS = {
    "colour": ("Colour", "Color", "Col."),
    "storage": ("Capacity", "Memory", "Cap."),
    "screen": ("Screen size", "Diagonal", "Screen"),
    "battery": ("Capacity", "Battery", "Cap."),
    "cable": ("Length", "Total length", "Lgth"),
    "volume": ("Capacity", "Volume", "Cap."),
    "litres": ("Capacity", "Volume", "Cap."),
    "bag": ("Volume", "Capacity", "Vol."),
    "diameter": ("Diameter", "Across", "Dia."),
    "power": ("Power", "Wattage", "Pwr"),
    "voltage": ("Voltage", "Battery voltage", "Volt."),
    "light": ("Brightness", "Light output", "Lum."),
    "tent": ("Sleeps", "Capacity", "Cap."),
    "pack": ("Contents", "Quantity", "Qty"),
    "weight": ("Weight", "Net weight", "Wt."),
    "cosmetic": ("Contents", "Volume", "Vol."),
    "age": ("Age", "Suitable age", "Age"),
}
DEFAULT_LABEL = ("Size", "Dimensions", "Sz.")

# A block is a category: department, nouns, axes, materials, features, uses (see `Category`).
# Blocks and what stands in them by falling frequency.
_BLOCKS = """
wear
T-shirt, tee, crew neck shirt
colour, clothing
organic cotton, cotton jersey, merino wool, linen blend
collar: keeps its shape after many washes; seam: lies flat against the skin; hem: stays put when \
you move; fabric: lets the skin breathe on warm days; cut: sits close without pinching; label: is \
printed so that nothing scratches; shoulder: is taped for a longer life; sleeve: ends just above \
the elbow
every day, summer weekends, layering, the gym

tech
phone case, mobile cover, protective case
colour, pack
silicone, polycarbonate, vegan leather, recycled plastic
raised edge: protects the lens from scratches; corner: absorbs the shock of a fall; back: shows \
no fingerprints; lining: keeps the glass free of dust; button cover: clicks as it should; \
cut-out: leaves room for any charger; surface: sits firmly in the hand; magnet ring: holds \
wireless chargers in place
commuters, clumsy hands, wireless charging, everyday protection

kitchen
water bottle, drinking bottle, vacuum flask
colour, volume
stainless steel, tritan, borosilicate glass, aluminium
lid: closes tightly and never leaks; wall: keeps drinks cold for a day; mouth: takes ice cubes \
and a brush; loop: hangs from any backpack; coating: gives a sure grip; straw: lets you drink \
without tilting; base: stands quietly on any desk; seal: comes out for cleaning
school, the office, long hikes, yoga class

home
cushion cover, pillow case, throw pillow cover
colour, cushion
velvet, linen, cotton canvas, boucle
zip: hides in the seam; weave: feels soft to the touch; stitching: survives pets and children; \
back: matches the front; piping: frames the edge; dye: does not fade in the sun; texture: catches \
the evening light; fabric: can be washed at 40 degrees
sofas, reading corners, garden chairs, guest rooms

tech
headset, over-ear headset, wireless headphone
colour
aluminium, protein leather, recycled plastic
noise cancelling: silences trains and offices; ear pad: stays comfortable for hours; headband: \
folds flat for the bag; microphone: picks up your voice clearly; battery: plays for thirty hours; \
driver: delivers deep bass and clear treble; touch control: skips tracks with one tap; quick \
charge: gives five hours in ten minutes
travel, video calls, home studios, gaming nights

wear
running shoe, sports trainer, jogging shoe
colour, shoes
breathable mesh, engineered knit, recycled polyester
midsole: returns energy at every step; outsole: grips on wet roads; heel counter: guides the \
foot; tongue: spreads the pressure of the laces; toe box: leaves room for long runs; insole: \
comes out for orthotics; reflective strip: makes you visible at night; upper: dries within an \
hour
road running, tempo training, beginners, long distances

kitchen
frying pan, skillet, saute pan
diameter
cast iron, forged aluminium, carbon steel, stainless steel
coating: releases eggs without oil; handle: stays cool on the hob; base: spreads the heat evenly; \
rim: pours without dripping; rivet: holds for decades; core: reacts quickly to the flame; \
surface: takes metal spatulas; lid: lets steam out through a vent
induction hobs, searing steaks, pancakes, oven dishes

home
duvet cover set, bed linen set, quilt cover
colour, bedding
cotton sateen, washed linen, percale cotton, microfibre
button placket: closes neatly at the foot; weave: stays cool in summer; print: runs across both \
sides; pillowcase: comes with an envelope closure; thread: is spun from long staple fibres; \
finish: needs no ironing; corner tie: keeps the duvet in place; colourway: reverses for a second \
look
warm sleepers, guest beds, cold nights, modern bedrooms

tech
USB-C cable, charging cable, data lead
colour, cable
braided nylon, silicone, TPE
plug: fits through every case; strain relief: survives thousands of bends; core: carries up to \
100 watts; chip: protects the device from overload; strap: keeps the bag tidy; shielding: \
transfers data without errors; connector: clicks in either way round; jacket: does not tangle
laptops, tablets, car chargers, desk setups

outdoor
backpack, rucksack, daypack
colour, bag
recycled nylon, ripstop polyester, waxed canvas
back panel: lets air flow along the spine; hip belt: takes weight off the shoulders; rain cover: \
hides in the bottom pocket; laptop sleeve: is padded on all sides; side pocket: holds a large \
bottle; chest strap: slides to the right height; zip: keeps water out; compression strap: tames a \
half-full load
day hikes, city commuting, weekend trips, hut tours

tools
cordless drill, drill driver, battery screwdriver
voltage
glass-filled nylon, magnesium alloy, rubberised plastic
chuck: changes bits without a key; motor: works without brushes; torque ring: sets twenty levels; \
LED lamp: lights dark corners; grip: damps vibration; gearbox: shifts between two speeds; belt \
clip: fits on either side; charge indicator: shows what is left
flat-pack furniture, masonry, home renovation, tight spaces

family
notebook, writing journal, notepad
colour, paper
vegan leather, kraft card, linen cloth, recycled paper
paper: does not bleed with fountain pens; binding: opens completely flat; ribbon: marks two \
places; pocket: keeps receipts at the back; elastic band: holds loose sheets; dot grid: suits \
notes and sketches; cover: withstands years in a bag; page number: makes an index easy
bullet journals, lectures, travel diaries, meetings

home
LED bulb, light bulb, energy-saving lamp
light, pack
frosted glass, clear glass, polycarbonate
filament: looks like the old days; driver: never flickers; dimmer: works with common wall \
switches; colour temperature: feels warm and cosy; socket: fits standard lamps; chip: lasts \
fifteen thousand hours; remote mode: answers to voice and app; reflector: directs light where it \
is needed
living rooms, hallways, desk lamps, pendant lights

tech
power bank, portable charger, battery pack
colour, battery
aluminium, polycarbonate, soft-touch plastic
display: shows the charge in percent; port: delivers fast charging; casing: slips into a trouser \
pocket; safety chip: stops overheating; cable: is built into the frame; stand: props up the \
phone; lamp: doubles as a torch; pass-through mode: charges two devices overnight
festivals, flights, camping, long days out

wear
hoodie, hooded sweatshirt, pullover
colour, clothing
brushed fleece, organic cotton, French terry
hood: is lined and deep; pocket: warms both hands; cuff: keeps out the draught; drawcord: ends in \
metal tips; inside: feels soft from the first day; zip: runs smoothly up to the chin; rib: \
springs back after stretching; print: stays sharp wash after wash
cool evenings, lounging, training, campus

kitchen
electric kettle, jug kettle, cordless kettle
colour, litres
stainless steel, glass, double-walled plastic
spout: pours in a fine stream; thermostat: holds six temperatures; limescale filter: lifts out \
for rinsing; base: hides spare cord; switch: turns off by itself; window: shows the number of \
cups; lid: opens at a push; element: boils a cup in under a minute
green tea, pour-over coffee, large families, small kitchens

outdoor
sleeping bag, mummy bag, camping quilt
colour
goose down, hollow fibre, recycled polyester
hood: tightens with one hand; zip guard: prevents snagging; foot box: leaves room to turn; \
baffle: stops cold spots; stuff sack: compresses to a small roll; inner pocket: keeps a phone \
warm; draught collar: holds the heat in; shell: sheds the morning dew
three seasons, winter camps, bikepacking, festivals

home
area rug, carpet, woven rug
colour, rug
jute, wool, polypropylene, recycled cotton
pile: feels deep under bare feet; backing: does not slip on parquet; edge: is bound by hand; \
pattern: hides small stains; weave: suits underfloor heating; fibre: repels spills; fringe: is \
knotted and trimmed; texture: muffles footsteps
living rooms, hallways, nurseries, dining tables

family
dog bed, pet bed, dog cushion
colour, diameter
faux fur, corduroy, waterproof oxford
bolster: supports head and neck; filling: keeps its loft; cover: comes off for washing; base: \
does not slide; rim: gives a feeling of safety; foam core: relieves old joints; lining: keeps \
moisture out; entrance: is low for puppies
small breeds, senior dogs, car boots, anxious pets

tech
monitor, computer display, LED screen
screen
brushed aluminium, matt plastic
panel: shows true colours from any angle; stand: turns, tilts and lifts; bezel: nearly vanishes; \
refresh rate: keeps games smooth; hub: charges a laptop with one cable; blue light filter: rests \
the eyes; speaker: is good enough for calls; cable channel: tidies the desk
photo editing, home offices, gaming, spreadsheets

tools
garden hose, hose pipe, water hose
colour, cable
reinforced PVC, natural rubber, braided textile
coupling: clicks onto common taps; nozzle: switches between five jets; layer: prevents kinks; \
wall: blocks algae and light; reel: winds by itself; bracket: swivels on the wall; braid: bears \
high pressure; stop valve: lets you change tools
flower beds, car washing, balconies, large lawns

kitchen
chef's knife, kitchen knife, cook's knife
diameter
Damascus steel, high-carbon steel, ceramic
blade: stays sharp for months; bolster: balances the weight; handle: fits small and large hands; \
tang: runs through to the end; edge: glides through tomatoes; hollow: keeps slices from sticking; \
sheath: protects fingers in the drawer; spine: is rounded for a pinch grip
vegetables, carving, fine slicing, gifts

family
face cream, moisturiser, day cream
cosmetic
aloe vera, shea butter, hyaluronic acid, jojoba oil
texture: sinks in without a film; formula: does without perfume; pump: doses to the drop; filter: \
guards against the sun; extract: calms red patches; jar: can be refilled; barrier complex: holds \
moisture until evening; scent: fades after a moment
dry skin, sensitive skin, mature skin, all skin types

outdoor
tent, camping tent, dome tent
colour, tent
ripstop nylon, polyester, polycotton
flysheet: sheds heavy rain; pole: clips in within minutes; groundsheet: is taped at every seam; \
vestibule: stores boots and packs; vent: keeps condensation down; peg: holds in soft soil; inner \
door: opens on both sides; guy line: glows in torchlight
festivals, alpine tours, family holidays, coastal wind

wear
winter jacket, insulated coat, parka
colour, clothing
recycled polyester, waxed cotton, softshell
hood: comes off with a zip; membrane: blocks wind and rain; filling: warms without weight; inner \
cuff: keeps snow out; pocket: is lined with fleece; storm flap: covers the zip; drawstring: \
shapes the waist; collar: rises to the nose
school runs, ski holidays, city winters, dog walks

home
storage box, organiser basket, lidded crate
colour, pack
bamboo, felt, seagrass, clear plastic
lid: doubles as a tray; handle: is cut into the side; window: shows what is inside; wall: folds \
flat when empty; label holder: keeps order; wheel: rolls under the bed; rim: lets boxes stack; \
insert: divides the space
wardrobes, toys, offices, pantry shelves

tech
SSD drive, portable storage drive, solid state disk
colour, storage
aluminium, rubberised plastic
controller: copies a film in seconds; casing: withstands a fall from two metres; encryption: \
guards private files; cooling fin: keeps the speed up; cable: plugs into old and new ports; lamp: \
blinks while writing; software: backs up every night; loop: ties to a key ring
photographers, consoles, backups, video editing

family
baby bodysuit, romper, infant onesie
colour, age
organic cotton, bamboo viscose, merino wool
snap row: opens wide for changing; neckline: stretches over the head; mitten cuff: prevents \
scratching; seam: faces outwards; foot: has an anti-slip sole; elastic: follows every growth \
spurt; print: uses safe inks; waistband: leaves the tummy free
newborn gifts, cosy nights, crawling, delicate skin

kitchen
blender, smoothie maker, stand mixer jug
colour, power
tritan, glass, brushed steel
blade: crushes ice and nuts; jug: is marked in cups; pulse mode: controls the texture; foot: \
sucks onto the worktop; travel cup: fits car holders; motor: runs quietly for its class; lid: has \
a filling cap; cleaning cycle: rinses itself
smoothies, soups, baby food, frozen fruit

outdoor
bicycle helmet, bike helmet, cycling helmet
colour, clothing
in-mould polycarbonate, EPS foam, recycled ABS
dial: adjusts with one hand; rear lamp: flashes in three modes; visor: keeps drizzle off; vent: \
cools on climbs; pad: comes out for washing; buckle: closes with a magnet; shell: covers the \
temples; liner: yields in oblique impacts
commuting, e-bikes, children, gravel rides

tools
screwdriver set, bit set, driver kit
pack
chrome vanadium steel, S2 tool steel
tip: is magnetic and hardened; handle: turns in the palm; case: snaps shut and hangs; ratchet: \
reverses with a thumb; shaft: shows the size in colour; insulation: is tested to 1000 volts; bit: \
bites into worn screws; rack: sorts by profile
electronics, workshops, bicycles, gifts

family
coloured pencil set, drawing pencil set, art crayon set
pack
cedar wood, lime wood, recycled wood
lead: does not break when sharpened; pigment: blends smoothly; barrel: has a grip for small \
hands; tin: keeps its order; lacquer: is made with water; tone: resists light for years; core: \
dissolves with a wet brush; name field: avoids mix-ups
school, mandalas, artists, rainy afternoons

kitchen
coffee bean blend, whole bean coffee, espresso roast
weight
arabica, robusta blend, single origin arabica
roast: is slow and gentle; aroma: recalls cocoa and hazelnut; crema: stands thick and golden; \
acidity: stays mild; valve: lets gas out and no air in; harvest: is picked by hand; blend: works \
with milk; grind: suits every machine
espresso machines, filter coffee, cold brew, early mornings

home
desk lamp, table lamp, reading light
colour, power
powder-coated steel, oak, brass
arm: bends in three joints; shade: directs glare away; dimmer: remembers the last level; base: \
charges a phone; cord: is covered in fabric; switch: reacts to a touch; hinge: holds any \
position; clamp: grips boards up to five centimetres
home offices, bedside tables, sewing, students

family
dry dog food, dog kibble, dog biscuit mix
weight
chicken, salmon, lamb, turkey
recipe: contains no added sugar; kibble: cleans teeth while chewing; omega blend: makes the coat \
shine; prebiotic: calms the stomach; protein: comes from one source; bag: closes with a zip; \
grain-free mix: suits allergic dogs; mineral: supports growing bones
adult dogs, puppies, picky eaters, active breeds

wear
pair of socks, crew sock pair, sport sock set
colour, pack
combed cotton, merino wool, bamboo viscose
toe seam: is linked by hand; cuff: holds without cutting in; sole: is cushioned with terry; arch \
band: keeps everything in place; heel: is knitted in shape; yarn: stays fresh for days; mesh \
zone: carries heat away; reinforcement: resists rubbing
sneakers, hiking boots, offices, sensitive feet
"""

CATEGORIES = tuple(_category(block) for block in _BLOCKS.strip().split("\n\n"))

ADJECTIVES = _split(
    "soft, sturdy, lightweight, practical, durable, clever, slim, robust, reinforced, smooth, "
    "flexible, adjustable, carefully finished, compact, generous, precise, strong, discreet, "
    "improved, elegant, hard-wearing, easy-care, high-quality, newly designed, seamless, "
    "well-made, ergonomic, simple, refined, solid",
    ",",
)

LINE_STARTS = _split(
    "Lu, Ka, Ve, Nor, Sol, Mi, Ter, Al, Bri, Zan, Or, Fe, Hal, Qui, Tal, Dra, El, Cor, Pa, Ri, "
    "Syl, Mon, Ju, Wen, Ast, Ba, Gri, Ny, Os, Ur",
    ",",
)
LINE_ENDS = _split(
    "ra, vo, mis, len, tia, dor, nex, vel, rin, zo, ston, bria, mar, lia, tec, fin, quo, vane, "
    "sta, dello, rix, nova, tune, wick, ria, pel, nito, gard, mera, sken",
    ",",
)
LINE_SUFFIXES = ("", "", "", "", "Pro", "Plus", "Classic", "Lite", "II", "Max", "Studio", "Air")

OPENINGS = (
    "The {line} by {brand} is {a} {adj} {noun} for {use}.",
    "{noun} {line} from {brand}: {adj}, made of {material}, ideal for {use}.",
    "With the {line}, {brand} presents {a} {adj} {noun} made of {material}.",
    "Meet the {adj} {noun} from {brand}, designed for {use}.",
    "{brand} makes the {line} for {use}.",
    "{a} {adj} {noun} in {material} that you will not want to miss.",
    "Looking for {a} {adj} {noun}? The {brand} {line} is made for {use}.",
    "Our bestseller for {use}: the {line} in {material}.",
)
FEATURES = (
    "The {adj} {part} {benefit}.",
    "Its {part} {benefit}.",
    "{adj} {part} {benefit}.",
    "The {part} {benefit}, thanks to {adj} {material}.",
    "What customers like: the {part} {benefit}.",
    "{part}: {benefit}.",
)
VERSIONS = (
    "This {noun} comes in {values}.",
    "Version: {values}.",
    "Here you buy the {noun} in {values}.",
    "You get it in {values}.",
)
MARKETING = _split(
    "Great value for money.| A lovely gift idea.| New season, best price.| Customer favourite.| "
    "Only while stocks last.| Original product, brand new in box.| Top rated by our customers.| "
    "Limited edition.| Also available in other versions.| You will love it.| "
    "Perfect for the whole family.| Tested and approved.",
    "|",
)
SERVICE = _split(
    "| Free delivery and 30 days return.| Ships within 24 hours.| Two-year warranty.| "
    "Invoice with VAT.| Packed without plastic.| Buy with confidence from a family business.| "
    "Express shipping available.| Questions? Write to us.",
    "|",
)
BADGES = ("", "", "", "", "", "", "", "NEW", "Original", "Sale:", "Premium", "Top offer")

# What sellers write instead; the first match in a text is replaced by the second.
_SHORTHANDS = (
    "stainless steel=s/steel; organic cotton=bio cotton; thanks to=due to; made of=from; "
    "without=w/o; designed for=made for; lightweight=light; comfortable=comfy; keeps=holds; "
    "adjustable=adjust.; aluminium=aluminum; polyester=polyest.; ideal for=perfect for; "
    "high-quality=quality; recycled=recyc.; durable=long-lasting; sturdy=stable; "
    "practical=handy; protects=guards; presents=offers; customers=buyers; Its=The"
)
SHORTHANDS = tuple(
    (full, short) for full, short in (_split(pair, "=") for pair in _split(_SHORTHANDS, ";"))
)
