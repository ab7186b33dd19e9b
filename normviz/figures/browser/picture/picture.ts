// A picture of a figure as it is shown: one SVG of plain shapes and text, which any program reads, or a PNG of it.

import { button, download, html } from "../common/dom.ts";
import { _ } from "../common/messages.ts";
import { PagePainter } from "./painter.ts";

const PIXEL_RATIO = 2; // pixels of a PNG per CSS pixel
const MOST_PIXELS = 16e6; // the canvas of every browser takes so many

/** Lets other scripts of the page save the figure. */
export function offerPictures(view: PictureSource) {
  view.root.nvImage = (kind) => drawPicture(view, kind);
  view.root.nvImageName = (kind) => pictureName(view.data, kind);
}

async function drawPicture(view: PictureSource, kind: string) {
  if (kind !== "svg" && kind !== "png") throw new Error(_("An image is \"svg\" or \"png\", not \"{kind}\".", { kind }));
  if (view.root.dataset.state !== "ready") throw new Error(_("The figure is not drawn yet."));
  const picture = await drawSvg(view), svg = new Blob([picture.text], { type: "image/svg+xml" });
  return kind === "svg" ? svg : rasterize(svg, picture);
}

/** "normviz", the layer and the shape. */
function pictureName(data: FigureData, kind: string) {
  const layer = data.layer || (data.layers ? "compare" : data.kind), shape = data.grid?.shape.join("x") ?? "";
  return `${["normviz", layer, shape].map(safeName).filter(Boolean).join("-")}.${kind}`;
}

const safeName = (text: string) => text.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 60).replace(/^-|-$/g, "");

async function rasterize(svg: Blob, { width, height }: PictureSvg): Promise<Blob> {
  const address = URL.createObjectURL(svg), image = new Image();
  try {
    image.src = address;
    await image.decode();
    const ratio = Math.min(PIXEL_RATIO, Math.sqrt(MOST_PIXELS / (width * height))), canvas = document.createElement("canvas");
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(_("The browser made no PNG.")))), "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

export async function drawSvg(view: PictureSource): Promise<PictureSvg> {
  const { root, data, colors } = view, plot = view.plotAsSvg ? await view.plotAsSvg() : null;
  root.classList.add("nv-picture"); // removed before the browser paints
  root.classList.toggle("nv-no-element", !view.active);
  try {
    return new PagePainter(view, plot).svg(headingOf(data), colors);
  } finally {
    root.classList.remove("nv-picture", "nv-no-element");
  }
}

/** The layer and the shape of x; nothing for a figure of another tensor. */
function headingOf({ layer, grid, name = "x" }: ViewData) {
  if (!grid || name !== "x") return "";
  const shape = `(${grid.shape.join(", ")}${grid.shape.length === 1 ? "," : ""})`;
  return layer ? _("{layer} on x of shape {shape}", { layer, shape }) : _("x of shape {shape}", { shape });
}

// "Save image", for pages that have no other place for it.

/** Shows the menu where the data asks for it. */
export function updateSaveMenu(view: PictureSource) {
  if (!view.saveMenu && view.data.save) view.saveMenu = addMenu(view);
  if (view.saveMenu) view.saveMenu.hidden = !view.data.save;
}

function addMenu(view: PictureSource) {
  const menu = html("details", "nv-save", view.root), summary = html("summary", "", menu, _("Save image")), list = html("div", "nv-save-list", menu);
  for (const kind of ["png", "svg"]) {
    const format = kind.toUpperCase(), save = () => saveImage(view, kind).catch((error) => view.announce(error.message));
    button("nv-button", list, format, save).setAttribute("aria-label", _("Save as {format}", { format }));
  }
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    summary.focus();
  });
  return menu;
}

async function saveImage({ root }: PictureSource, kind: string) {
  const { nvImage, nvImageName } = root;
  if (nvImage && nvImageName) download(await nvImage(kind), nvImageName(kind));
}
