// The table of all means and variances, filled when it is opened.

import { html } from "../common/dom.ts";
import { formatCount, formatNumber } from "../common/format.ts";
import { _, ngettext } from "../common/messages.ts";
import { listStatistics } from "../tensor/sharing.ts";

export class StatisticsTable {
  data: DecodedData;
  root = html("details", "nv-table", null, "", { hidden: true });
  title = html("summary", "", this.root);
  body = html("div", "", this.root);

  constructor(parent: HTMLElement) {
    parent.append(this.root);
    this.root.addEventListener("toggle", () => this.fill());
  }

  set(data: DecodedData) {
    this.data = data;
    this.root.hidden = !data.values;
    if (data.values) this.fill();
  }

  fill() {
    const { data } = this;
    if (!data?.values) return;
    const { stats } = data, meanSquare = !stats.center && !stats.running;
    this.title.textContent = meanSquare
      ? ngettext("The mean square as a table", "All {n} mean squares as a table", stats.count)
      : ngettext("The mean and the variance as a table", "All {n} means and variances as a table", stats.count);
    this.body.replaceChildren();
    if (!this.root.open) return;
    const rows = listStatistics(data, data.values, data.sent), table = html("table", "", this.body);
    const place = stats.axes.map((axis) => axis.name).join(", ") || _("all");
    const heads = [place, ...(meanSquare ? [_("mean square")] : [_("mean"), _("variance")]), _("elements")];
    const headRow = html("tr", "", html("thead", "", table)), body = html("tbody", "", table);
    for (const head of heads) html("th", "", headRow, head);
    for (const { index, mean, variance } of rows) {
      const row = html("tr", "", body), numbers = meanSquare ? [variance] : [mean, variance];
      for (const cell of [index.join(", "), ...numbers.map((value) => formatNumber(value)), formatCount(stats.size)]) html("td", "", row, cell);
    }
    if (rows.length < stats.count)
      html("p", "", this.body, ngettext("The first {n} of the groups that are drawn.", "The first {n} of the groups that are drawn.", rows.length));
  }
}
