// Share in a file: what works without a server.

import { html } from "../../figures/browser/common/dom.ts";
import { _, betweenSentences } from "../../figures/browser/common/messages.ts";
import { ShareDialog } from "./dialog.ts";
import { iframe, markdown } from "./links.ts";

/** ``link``: the address of the view; ``isFile``: in this file, not in the app */
export type FileShare = { page: string; title: string; link: string; isFile: boolean };

export class FileDialog extends ShareDialog {
  constructor(parent: HTMLElement, { page, title, link, isFile }: FileShare, onClose: () => void) {
    super(parent, page, onClose);
    this.root.classList.add("nvs-plain");
    const height = document.documentElement.scrollHeight, place = html("div", "nvs-left", this.body);
    this.addText(place, "link", _("Link"), link);
    this.addText(place, "markdown", "Markdown", markdown(link, title));
    if (isFile) {
      const fromDisk = location.protocol === "file:", source = fromDisk ? link.slice(link.split("#")[0].lastIndexOf("/") + 1) : link;
      this.addText(place, "iframe", "iframe", iframe(source, title, null, [[innerWidth, height]]));
      const note = html("p", "nvs-note", place, _("{height} px high, as this page is now.", { height }));
      if (fromDisk) note.append(betweenSentences(), _("Put this file into the folder of the page that embeds it."));
    }
    this.addFiles(place);
    this.show();
  }

  addText(parent: HTMLElement, name: string, label: string, text: string) {
    this.addField(parent, name, label, 4);
    this.fields[name].text.value = text;
  }
}
