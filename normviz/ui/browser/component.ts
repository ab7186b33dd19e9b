// A page as a Streamlit component. Streamlit calls it at every change. It calls the returned function when it removes the page, and also right after
// a call whose data had already been replaced.

import { find, html, nextFrame } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { applyColors, readMode } from "../../figures/browser/common/theme.ts";
import { HowMany } from "../../lessons/explore/how_many.ts";
import { addProjectorButton, PageView } from "../../parts/browser/page.ts";
import { appAddress, queryOf, viewUrl } from "../../lessons/share/links.ts";
import { ShareButton } from "../../lessons/share/dialog.ts";
import { ReportButton } from "../../lessons/share/report.ts";
import { AppDialog, AppLink } from "../../lessons/share/share.ts";
import { keepInAddress, keepStep, openAddress, scrollToWanted, viewAddress, withParameter } from "./addresses.ts";
import { endFirstPage, showFirstPage } from "./first_page.ts";
import { markApp, PageHead } from "./head.ts";
import { addLanguages, applyLanguage, rememberLinked } from "./language.ts";
import { correctStreamlit, markGroup } from "./streamlit.ts";

type Sharing = Partial<Frame & Header> & { open?: any; language: ReaderLanguage };

correctStreamlit();

/** By the element. In another language, this script is another module: it replaces the page. */
const pages: WeakMap<HTMLElement, { destroy(): void }> = ((window as any).normvizPages ??= new WeakMap());

class AppPage implements PageHost {
  data: PageData & Sharing;
  send: ((name: string, value: object) => void) | undefined;
  open: AppLink | null = null;
  share: ShareButton<SharePayload> | null = null;
  projector: HTMLElement | null = null;
  head: PageHead | null = null;
  corner: HTMLElement | null = null; // the languages, Share and Project
  report: ReportButton | null = null;
  sent: ResizeObserver | null = null;
  waiting: object | null = null; // identifies what is shown after the next frame
  root: HTMLElement;
  view: PageView;
  howMany: HowMany;
  followHistory;

  constructor(root: HTMLElement) {
    this.root = root;
    root.dataset.mounted = "yes";
    this.view = new PageView(html("div", "nv-page", root), this);
    this.howMany = new HowMany(this.view.root);
    this.followHistory = () => this.showGuessOfAddress();
    window.addEventListener("popstate", this.followHistory);
  }

  set(data: PageData & Sharing, mode: Mode) {
    this.data = data;
    applyLanguage(data.language);
    if (data.languages) rememberLinked(data.language, data.page);
    this.root.dataset.mode = mode;
    applyColors(this.root, mode);
    const drawn = this.view.set(data, mode);
    this.howMany.set(data.figures);
    if (data.summary !== undefined) (this.head ??= new PageHead(this)).set(data, mode);
    this.view.hold(); // the summary of the controls may have another length
    if (data.present !== undefined) {
      markGroup(data.group ?? "");
      markApp("presents", Boolean(data.present));
      markApp("shares", Boolean(data.share));
      markApp("translates", (data.languages ?? []).length > 1);
    }
    scrollToWanted();
    drawn.then(scrollToWanted);
    if (data.open) (this.open ??= new AppLink(this.root)).set(data.open);
    else this.open = this.open?.remove() ?? null;
    if (!data.languages || Boolean(data.share) !== Boolean(this.share)) this.removeCorner();
    if (data.languages) this.corner ??= this.addCorner();
    if (data.share) this.share?.set(data.share);
    if (this.projector) this.projector.hidden = !data.projector;
    if (data.languages && !data.share) this.report ??= this.addReport(this.root);
    else this.report = this.report?.remove() ?? null;
    if (data.open && window.parent !== window) this.sent ??= sendHeight(find(document, "[data-testid=stMainBlockContainer]"));
  }

  /** Shows the parts below the figure. After a change, the browser paints the figure first, and these parts one frame later. */
  async setBelow(data: PageData & Sharing, mode: Mode) {
    const next = (this.waiting = {});
    this.root.dataset.waiting = "yes";
    if (this.data && this.root.dataset.mode === mode) await nextFrame();
    if (this.waiting !== next) return;
    this.waiting = null;
    delete this.root.dataset.waiting;
    this.set(data, mode);
  }

  addCorner() {
    const corner = html("div", "nvs-root nvs-corner", this.head?.root ?? this.root);
    addLanguages(corner, this.data.languages ?? [], this.data.language, this.data.page);
    if (!this.data.share) return corner;
    this.share = new ShareButton(corner, "nvs-button nvs-opener", (parent, data, onClose) => {
      const dialog = new AppDialog(parent, this.view.asEntered(data), onClose);
      this.addReport(dialog.root, (text) => dialog.say(text));
      return dialog;
    });
    this.projector = addProjectorButton("nvs-button nvs-projector", corner, this);
    return corner;
  }

  /** A report of an error in what is shown. */
  addReport(parent: HTMLElement, say?: (text: string) => void) {
    return new ReportButton(parent, this.data.report ?? "", () => {
      const { share } = this.data;
      return share ? { title: share.title, link: viewUrl(appAddress(share.page), share, {}) } : { title: document.title, link: location.href };
    }, say);
  }

  removeCorner() {
    this.share?.close();
    this.corner?.remove();
    this.corner = this.share = this.projector = null;
  }

  /** The server answers, so that the address follows. */
  present: NonNullable<PageHost["present"]> = (present) => this.send?.("present", { present });

  address: NonNullable<PageHost["address"]> = (page, query) => viewAddress(this.data.page, page, query);

  /** An embedded view stays embedded. */
  go: NonNullable<PageHost["go"]> = (page, query) => {
    const embedding = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("embed"));
    this.howMany.follow();
    openAddress(this.address(page, queryOf([...new URLSearchParams(query), ...embedding])));
    return true;
  };

  guess: NonNullable<PageHost["guess"]> = (guess) => {
    const isFirst = !new URLSearchParams(location.search).has("guess"); // Back leaves the answer, and not one guess after the other
    keepInAddress(withParameter("guess", guess), isFirst);
  };

  search: NonNullable<PageHost["search"]> = (text) => keepInAddress(withParameter("search", text), false);

  keepStep: NonNullable<PageHost["keepStep"]> = keepStep;

  /** After Back, the server may send the data that it sent last, which Streamlit does not pass on. */
  showGuessOfAddress() {
    const query = new URLSearchParams(location.search), asked = this.root.querySelector(`.nv-prediction[data-question="${CSS.escape(query.get("q") ?? "")}"]`);
    const guess = query.get("guess") ?? "";
    if (asked && guess !== this.data.guess) this.view.showGuess(guess);
  }

  destroy() {
    this.waiting = null;
    window.removeEventListener("popstate", this.followHistory);
    this.howMany.remove();
    this.open?.remove();
    this.removeCorner();
    this.head?.remove();
    this.report?.remove();
    this.sent?.disconnect();
    this.view.destroy();
    this.root.replaceChildren();
  }
}

/** Sends the height of the content to the page around this frame, now and at every change. One line of script in the snippet for a frame applies it. */
function sendHeight(content: Element) {
  const observer = new ResizeObserver(() => {
    const normvizHeight = Math.ceil(content.getBoundingClientRect().height);
    if (normvizHeight > 0) parent.postMessage({ normvizHeight }, "*");
  });
  observer.observe(content);
  return observer;
}

/** Streamlit passes a function that sends values; the first HTML does not. */
export default function mount({ parentElement, data, setTriggerValue }: ComponentArguments) {
  if (!setTriggerValue) return showFirstPage(parentElement as HTMLElement, data, readMode(parentElement));
  const root = find(parentElement, ".nv-doc"), before = pages.get(root);
  if (before && !(before instanceof AppPage)) before.destroy();
  const page = before instanceof AppPage ? before : new AppPage(root);
  pages.set(root, page);
  page.send = setTriggerValue;
  const mode = readMode(parentElement);
  if (data.present === undefined) page.setBelow(data, mode);
  else {
    page.set(data, mode);
    endFirstPage(page.view); // the parts below the figure may arrive before it and must not end the first page
  }
  return () => {
    if (root.isConnected) return; // the page stays: only the data of this call were replaced
    page.destroy();
    pages.delete(root);
  };
}
