// Changing single values of x: a number field over the cell.

const LARGEST = 1e12; // as normviz.scene.query has it

View.prototype.editButton = function () {
  const panel = this.panels.get("x");
  if (!panel) return;
  if (panel.button) panel.button.hidden = !this.data.editable;
  if (panel.button || !this.data.editable) return;
  panel.button = html("button", "nv-edit", panel.root, "Edit a value");
  panel.button.type = "button";
  panel.button.title = "Or double-click a cell of x, or type a number on it";
  panel.button.addEventListener("click", () => this.edit(this.at ?? this.data.grid.extent.map(() => 0)));
};

View.prototype.edit = function (index, start) {
  const panel = this.panels.get("x");
  if (!this.data.editable || !panel) return;
  panel.field?.remove();
  const box = panel.geometry.cell(index), field = html("input", "nv-field", panel.body);
  panel.field = field;
  field.type = "text";
  field.inputMode = "decimal";
  field.setAttribute("aria-label", `New value of ${bracketed("x", whole(this.data, index))}`);
  field.value = start ?? String(Number(this.valueAt("x", index).toPrecision(7)));
  const width = Math.max(64, box.width);
  const left = Math.min(Math.max(0, panel.left + box.x + box.width / 2 - width / 2), Math.max(0, panel.body.clientWidth - width));
  field.style.cssText = `left:${left}px;top:${panel.top + box.y + box.height / 2 - 14}px;width:${width}px`;
  const close = (back) => {
    if (panel.field !== field) return;
    panel.field = null;
    field.remove();
    if (back) panel.svg.focus();
  };
  const commit = (back) => {
    if (panel.field !== field) return true; // closed: a field that goes away loses the focus, too
    const value = Number(field.value.replace("\u2212", "-").replace(",", "."));
    if (field.value.trim() === "" || !(Math.abs(value) <= LARGEST)) {
      field.setAttribute("aria-invalid", "true");
      field.title = "Write a number, such as 0.5, up to 1e12";
      return false;
    }
    close(back);
    this.at = index;
    this.waiting = Date.now();
    this.send("edit", { at: whole(this.data, index), value, turn: (this.turn += 1) });
    return true;
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") commit(true);
    if (event.key === "Escape") close(true);
  });
  field.addEventListener("blur", () => commit(false) || close(false));
  field.focus();
  if (start === undefined) field.select();
};
