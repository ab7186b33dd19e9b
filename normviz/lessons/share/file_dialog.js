// Share in a file: what works without a server.

import { html } from "../../figures/browser/common/dom.js";
import { _, betweenSentences } from "../../figures/browser/common/messages.js";
import { ShareDialog } from "./dialog.js";
import { iframe, markdown } from "./links.js";

/** @typedef {{ page: string, title: string, link: string, isFile: boolean }} FileShare ``link``: the address of the view; ``isFile``: in this file, not in the app */

export class FileDialog extends ShareDialog {
  /**
   * @param {HTMLElement} parent
   * @param {FileShare} data
   * @param {() => void} onClose
   */
  constructor(parent, { page, title, link, isFile }, onClose) {
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

  /**
   * @param {HTMLElement} parent
   * @param {string} name
   * @param {string} label
   * @param {string} text
   */
  addText(parent, name, label, text) {
    this.addField(parent, name, label, 4);
    this.fields[name].text.value = text;
  }
}
