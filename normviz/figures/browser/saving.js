// "Save image", for pages that have no other place for it.

function savingMenu(view) {
  if (view.saving) view.saving.hidden = !view.data.save;
  if (view.saving || !view.data.save) return;
  const menu = html("details", "nv-save", view.root), list = html("div", "nv-save-list");
  const summary = html("summary", "", menu, "Save image");
  menu.append(list);
  for (const kind of ["png", "svg"]) {
    const button = html("button", "nv-button", list, kind.toUpperCase());
    button.type = "button";
    button.setAttribute("aria-label", `Save as ${kind.toUpperCase()}`);
    button.addEventListener("click", () => saveImage(view, kind).catch((error) => (view.voice ?? view.line).append(error.message)));
  }
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    summary.focus();
  });
  view.saving = menu;
}

async function saveImage(view, kind) {
  const address = URL.createObjectURL(await view.root.nvImage(kind)), link = document.createElement("a");
  link.href = address;
  link.download = view.root.nvImageName(kind);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // some browsers read it late
}
