"""JavaScript functions that tests run inside the page."""

# The rows and columns of a drawing; only the first one of a gap.
KEPT = """z => {
  const first = (empty) => empty.flatMap((is, i) => (is && empty[i - 1] ? [] : [i]));
  const rows = z.map((line) => line.every(Number.isNaN)), columns = [...z[0]].map((_, j) => z.every((line) => Number.isNaN(line[j])));
  return [first(rows), first(columns)];
}"""

# The centers of the columns and rows of a panel on the screen, including gaps.
MIDDLES = f"""key => {{
  const plot = document.querySelector(`.nv-panel-${{key}} .nv-plot`), box = plot.getBoundingClientRect(), {{ x, y, z }} = plot.data[0];
  const [rows, columns] = ({KEPT})(z), middle = (edges, i) => (edges[i] + edges[i + 1]) / 2;
  return [columns.map((j) => box.left + middle(x, j)), rows.map((i) => box.top + middle(y, i))];
}}"""

# Open the fold around a part, as a reader would, and wait until what it holds is drawn.
UNFOLD = """selector => {
  const fold = document.querySelector(selector).closest("details:not([open])");
  if (!fold) return;
  fold.open = true;
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""

# The element that the mouse wheel scrolls over ``part``.
SCROLLER = """part => {
  while (part && !(part.scrollHeight > part.clientHeight && /auto|scroll/.test(getComputedStyle(part).overflowY))) part = part.parentElement;
  return part ?? document.scrollingElement;
}"""

# Scroll a point of a panel to where the pointer can reach it.
REVEAL = f"""([key, x, y]) => {{
  if (y > 60 && y < innerHeight - 10 && document.elementFromPoint(x, y)?.closest(`.nv-panel-${{key}}`)) return false; // the read-out may cover it
  ({SCROLLER})(document.querySelector(`.nv-panel-${{key}}`)).scrollBy({{top: y - innerHeight / 2, behavior: "instant"}});
  return true;
}}"""

# The centers, and for every cell: is it not covered by the veil? Read at once, because a panel may be redrawn at any time.
OPEN = f"""key => {{
  const [across, down] = ({MIDDLES})(key);
  const veil = document.querySelector(`.nv-panel-${{key}} .nv-veil`), toVeil = veil.getScreenCTM().inverse();
  const open = (x, y) => !veil.isPointInFill(new DOMPoint(x, y).matrixTransform(toVeil));
  return [across, down, down.map((y) => across.map((x) => open(x, y)))];
}}"""

# The centers, and the center of the panel's frame or cursor; null if it is not shown.
MARKED = f"""([key, what]) => {{
  const mark = document.querySelector(`.nv-panel-${{key}} .nv-${{what}}`), box = mark.getBoundingClientRect();
  const shown = mark.getAttribute("visibility") !== "hidden";
  return [...({MIDDLES})(key), shown ? [box.left + box.width / 2, box.top + box.height / 2] : null];
}}"""

# Has the app's run ended, have the scripts of Streamlit's controls loaded, and are all visible figures drawn, with plotly.js, for the width that they have?
# A file has no run.
SETTLED = """() => !document.querySelector("#normviz-first, .nv-cells, [data-waiting], [data-testid=stSkeleton]") && (location.protocol === "file:" || document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning")
  && [...document.querySelectorAll(".nv-view")].every((view) => !view.checkVisibility() || (view.dataset.state === "ready" && Number(view.dataset.width ?? view.clientWidth) === view.clientWidth))"""

# Does the read-out name this element?
NAMES = "element => document.querySelector('.nv-readout').innerText.includes(element)"

# Go to another address of the app without loading the app again, as Back does.
NAVIGATE = "address => { history.pushState({}, '', address); dispatchEvent(new PopStateEvent('popstate')); }"

# Wait for two frames, after which the received data is drawn, except the parts below a figure.
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

# Does the address have these values? null: the name must be absent.
ADDRESS_HAS = """wanted => {
  const query = new URLSearchParams(location.search);
  return Object.entries(wanted).every(([name, value]) => query.get(name) === value);
}"""

# Is the app at rest, is this sentence shown, is this element framed (its line and column), and do the panels draw these numbers? NaN, in the gaps, is null.
SHOWN = """([sentence, places, drawings]) => {
  const kept = KEPT, middle = (edges, i) => (edges[i] + edges[i + 1]) / 2;
  const atRest = SETTLED, view = document.querySelector(".nv-view[data-state=ready]"), text = document.querySelector(".nv-sentence")?.innerText;
  if (!atRest() || !view || text?.replace(/\\s+/g, " ").trim() !== sentence) return false;
  const framed = (panel, at, x, y) => {
    const frame = panel.querySelector(".nv-frame"), is = (name) => Number(frame.getAttribute(name));
    if (!at || frame.getAttribute("visibility") === "hidden") return !at && frame.getAttribute("visibility") === "hidden";
    return Math.abs(is("x") + is("width") / 2 - x) < 1 && Math.abs(is("y") + is("height") / 2 - y) < 1;
  };
  const shown = [...view.querySelectorAll(".nv-panel")].map(panel => panel.className.match(/nv-panel-(\\w+)/)[1]);
  if (shown.sort().join() !== Object.keys(drawings).sort().join()) return false;
  return Object.entries(drawings).every(([key, byFacetsInALine]) => {
    const { data, dataset: { across } } = view.querySelector(`.nv-panel-${key} .nv-plot`), wanted = byFacetsInALine[across], at = places[across];
    if (!data || !wanted) return false;
    const { x, y, z } = data[0], [rows, columns] = kept(z);
    if (!framed(view.querySelector(`.nv-panel-${key}`), at, at && middle(x, columns[at[1]]), at && middle(y, rows[at[0]]))) return false;
    return rows.length === wanted.length && columns.length === wanted[0].length && wanted.every((line, i) => line.every((number, j) => {
      const value = z[rows[i]][columns[j]];
      return number === null ? Number.isNaN(value) : Math.abs(value - number) <= 1e-5 * (1 + Math.abs(number));
    }));
  });
}""".replace("KEPT", KEPT).replace("SETTLED", SETTLED)
