// A look at the embedded view as it will stand on a page; it tells the heights at which nothing scrolls.

const FULL = 700; // px: a page's text column, shown where the width is "full"
const WIDTHS_MEASURED = [320, 360, 400, 440, 480, 481, 520, 560, 600, 640, 680, 720, 760, 800, 860, 920, 1000, 1100, 1200, 1280]; // px
const TALL = 8000; // px, while it is measured: no scroll bar takes room
const SLACK = 8; // px, for fonts that are a little wider elsewhere
const BETWEEN = 24; // px: a line more, at a width between two that are measured
const EVERY = 200, STEADY = 4; // ms, looks: until all that comes late is there
const SOON = 60, SAME = 1; // ms, looks: after another width
const GIVE_UP = 20000; // ms

class Preview {
  constructor(parent, measured) {
    this.measured = measured;
    this.root = make("div", "nvs-stage", parent);
    this.note = make("p", "nvs-note", this.root, "Loading the preview …");
    this.box = make("div", "nvs-scaled", this.root);
    this.observer = new ResizeObserver(() => this.scale());
    this.observer.observe(this.root);
  }

  // Load the address at the width, or at all widths; ``measured`` is told [[width, height], ...] once they are steady.
  show(url, width) {
    const wanted = width ?? FULL;
    if (this.url === url && this.width === wanted) {
      this.measured(this.done ? this.told() : this.late ? undefined : null);
      return;
    }
    [this.url, this.width, this.done, this.height, this.late] = [url, wanted, false, null, false];
    [this.widths, this.found, this.steady, this.began] = [width ? [] : [...WIDTHS_MEASURED], new Map(), 0, Date.now()];
    this.slack = width ? SLACK : SLACK + BETWEEN;
    this.measured(null);
    this.frame?.remove();
    this.frame = make("iframe", "nvs-frame", this.box);
    this.frame.title = "Preview of the embedded view";
    this.frame.src = url;
    this.note.hidden = false;
    this.note.textContent = "Loading the preview …";
    this.scale();
    this.lookLater(EVERY);
  }

  lookLater(pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), pause);
  }

  look() {
    const found = this.contentHeight();
    if (found === null && !this.done && !this.late && Date.now() - this.began > GIVE_UP) {
      this.late = true;
      this.note.textContent = "The preview did not load here. The code is right; its height is a guess.";
      this.measured(undefined);
    }
    this.steady = found !== null && found === this.last ? this.steady + 1 : 0;
    this.last = found;
    const sweeping = this.found.size > 0 && !this.done;
    if (this.steady >= (sweeping ? SAME : STEADY)) this.keep(found);
    this.lookLater(this.found.size && !this.done ? SOON : EVERY);
  }

  // What is found at the width of the frame; then the next width, if there is one.
  keep(found) {
    const width = this.frame.clientWidth;
    if (this.found.get(width) === found) return;
    this.found.set(width, found);
    this.began = Date.now();
    this.done = !this.widths.length;
    if (!this.done) {
      this.frame.style.width = `${this.widths.shift()}px`;
      this.steady = 0;
      return;
    }
    this.height = this.found.get(this.width) + this.slack;
    this.note.hidden = true;
    this.scale();
    this.measured(this.told());
  }

  told() {
    return [...this.found].map(([width, height]) => [width, height + this.slack]).sort(([a], [b]) => a - b);
  }

  // The height of all that is in it; null while it is being made, or drawn for another width.
  contentHeight() {
    try {
      const inside = this.frame.contentDocument, content = inside?.querySelector("[data-testid=stMainBlockContainer]");
      const places = [...(inside?.querySelectorAll(".nv-root, .nvs-root") ?? [])], views = [...(inside?.querySelectorAll(".nv-view") ?? [])];
      const busy = inside?.querySelector('[data-test-script-state="running"], [data-testid=stSkeleton]');
      const drawn = ({ clientWidth, dataset }) => dataset.state === "ready" && (!clientWidth || Number(dataset.width ?? clientWidth) === clientWidth);
      if (!content || busy || !places.length || places.some((place) => !place.firstChild) || !views.every(drawn)) return null;
      return Math.ceil(content.getBoundingClientRect().height);
    } catch {
      return null;
    }
  }

  scale() {
    if (!this.frame) return;
    const by = Math.min(1, this.root.clientWidth / this.width), high = this.height ?? TALL;
    if (this.done || !this.found.size) this.frame.style.width = `${this.width}px`;
    this.frame.style.height = `${high}px`;
    this.frame.style.transform = `scale(${by})`;
    this.frame.style.visibility = this.height ? "visible" : "hidden";
    this.box.style.width = `${this.width * by}px`;
    this.box.style.height = this.height ? `${high * by}px` : "0";
  }

  destroy() {
    clearTimeout(this.timer);
    this.observer.disconnect();
    this.root.remove();
  }
}
