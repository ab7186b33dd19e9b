// Where each drawn element is, in pixels, and which rectangles its peers fill.

import { positionsOf } from "./sharing.js";

export class Geometry {
  /**
   * @param {GridData} grid
   * @param {number} width
   * @param {number} height
   * @param {{ most: number, gapY?: number, square?: boolean }} room ``most``: the largest height of a cell; ``gapY``: room for labels between facets; ``square``: cells as wide as high
   */
  constructor(grid, width, height, room) {
    /** @param {number | null} axis */
    const length = (axis) => (axis === null ? 1 : this.extent[axis]);
    this.grid = grid;
    this.extent = grid.indices.map((drawn) => drawn.length);
    this.columns = length(grid.col);
    this.rows = length(grid.row);
    this.facets = grid.facets.reduce((product, axis) => product * this.extent[axis], 1);
    this.across = grid.across;
    this.down = Math.ceil(this.facets / this.across);
    const tight = this.across * this.columns > width / 6;
    this.gapX = this.across > 1 ? Math.min(tight ? 2 : 10, (0.25 * width) / (this.across - 1)) : 0;
    this.gapY = room.gapY || (this.down > 1 ? (this.down * this.rows > height / 6 ? 2 : 10) : 0);
    const fullX = (width - (this.across - 1) * this.gapX) / (this.across * this.columns);
    const fullY = (height - (this.down - 1) * this.gapY) / (this.down * this.rows);
    this.cellH = Math.max(1, Math.min(fullY, room.most, Math.max(fullX, 6)));
    this.cellW = Math.min(fullX, room.most * 1.5, Math.max(this.cellH * 1.5, 6));
    if (room.square) this.cellW = this.cellH = Math.min(fullX, fullY, room.most);
    if (this.cellW >= 8) this.cellW = Math.floor(this.cellW);
    if (this.cellH >= 8) this.cellH = Math.floor(this.cellH);
    this.even = this.cellW < 6 && this.cellH < 6;
    this.padX = this.padY = 1; // lines of a gap in the heatmap that Plotly draws
    if (this.even) this.alignToRaster(width, height);
    this.pitchX = this.columns * this.cellW + this.gapX;
    this.pitchY = this.rows * this.cellH + this.gapY;
    this.width = this.across * this.pitchX - this.gapX;
    this.height = this.down * this.pitchY - this.gapY;
  }

  /**
   * Puts small cells and their gaps on one even raster: Plotly then paints one pixel per cell, several times as fast.
   * @param {number} width
   * @param {number} height
   */
  alignToRaster(width, height) {
    if (this.across > 1) {
      this.padX = Math.max(1, Math.round(this.gapX / this.cellW));
      this.cellW = Math.min(this.cellW, width / (this.across * this.columns + (this.across - 1) * this.padX));
      this.gapX = this.padX * this.cellW;
    }
    if (this.down > 1) {
      this.padY = Math.ceil(this.gapY / this.cellH);
      this.cellH = Math.min(this.cellH, height / (this.down * this.rows + (this.down - 1) * this.padY));
      this.gapY = this.padY * this.cellH;
    }
  }

  /**
   * The edges of the heatmap's columns, or of its rows.
   * @param {boolean} across
   */
  edges(across) {
    if (this.even) {
      const [cell, length] = across ? [this.cellW, this.width] : [this.cellH, this.height];
      return Array.from({ length: Math.round(length / cell) + 1 }, (_, line) => line * cell);
    }
    const [facets, lines, cell, pitch] = across
      ? [this.across, this.columns, this.cellW, this.pitchX]
      : [this.down, this.rows, this.cellH, this.pitchY];
    const edges = [];
    for (let facet = 0; facet < facets; facet++)
      for (let line = 0; line <= lines; line++) edges.push(facet * pitch + line * cell);
    return edges;
  }

  /** @param {Index} index */
  facetOf(index) {
    return this.grid.facets.reduce((number, axis) => number * this.extent[axis] + index[axis], 0);
  }

  /**
   * The index of a facet's first element.
   * @param {number} facet
   */
  facetIndex(facet) {
    const index = this.extent.map(() => 0);
    for (const axis of [...this.grid.facets].reverse()) {
      index[axis] = facet % this.extent[axis];
      facet = Math.floor(facet / this.extent[axis]);
    }
    return index;
  }

  /**
   * The rectangle of an element.
   * @param {Index} index
   */
  cellBox(index) {
    const facet = this.facetOf(index);
    const column = index[this.grid.col], row = this.grid.row === null ? 0 : index[this.grid.row];
    return {
      x: (facet % this.across) * this.pitchX + column * this.cellW,
      y: Math.floor(facet / this.across) * this.pitchY + row * this.cellH,
      width: this.cellW,
      height: this.cellH,
    };
  }

  /**
   * The element under a point; null in a gap.
   * @param {number} x
   * @param {number} y
   * @returns {Index | null}
   */
  elementAt(x, y) {
    const facetX = Math.floor(x / this.pitchX), facetY = Math.floor(y / this.pitchY);
    const column = Math.floor((x - facetX * this.pitchX) / this.cellW), row = Math.floor((y - facetY * this.pitchY) / this.cellH);
    const facet = facetY * this.across + facetX;
    if (facetX < 0 || facetX >= this.across || facetY < 0 || facet >= this.facets) return null;
    if (column < 0 || row < 0 || column >= this.columns || row >= this.rows) return null;
    const index = this.facetIndex(facet);
    index[this.grid.col] = column;
    if (this.grid.row !== null) index[this.grid.row] = row;
    return index;
  }

  /**
   * The next element in a direction, through all facets; the same element at the border.
   * @param {Index} index
   * @param {number} right
   * @param {number} down
   */
  neighbor(index, right, down) {
    const facet = this.facetOf(index);
    let facetX = facet % this.across, facetY = Math.floor(facet / this.across);
    let column = index[this.grid.col] + right, row = (this.grid.row === null ? 0 : index[this.grid.row]) + down;
    if (column < 0) [facetX, column] = [facetX - 1, this.columns - 1];
    if (column >= this.columns) [facetX, column] = [facetX + 1, 0];
    if (row < 0) [facetY, row] = [facetY - 1, this.rows - 1];
    if (row >= this.rows) [facetY, row] = [facetY + 1, 0];
    const next = facetY * this.across + facetX;
    if (facetX < 0 || facetX >= this.across || facetY < 0 || next >= this.facets) return index;
    const moved = this.facetIndex(next);
    moved[this.grid.col] = column;
    if (this.grid.row !== null) moved[this.grid.row] = row;
    return moved;
  }

  /**
   * One path around all peers of an element: neighbors are drawn as one rectangle.
   * @param {number[][]} tables
   * @param {Index} index
   */
  outline(tables, index) {
    const alike = tables.map((table, axis) => positionsOf(table, table[index[axis]]));
    const columns = runsOf(alike[this.grid.col]), rows = this.grid.row === null ? [[0, 1]] : runsOf(alike[this.grid.row]);
    let facets = [0];
    for (const axis of this.grid.facets)
      facets = facets.flatMap((number) => alike[axis].map((at) => number * this.extent[axis] + at));
    let path = "";
    for (const facet of facets) {
      const left = (facet % this.across) * this.pitchX, top = Math.floor(facet / this.across) * this.pitchY;
      for (const [row, rowEnd] of rows)
        for (const [column, columnEnd] of columns) {
          const x = left + column * this.cellW, y = top + row * this.cellH;
          path += `M${x},${y}H${left + columnEnd * this.cellW}V${top + rowEnd * this.cellH}H${x}Z`;
        }
    }
    return path;
  }

  get border() {
    return `M-2,-2H${this.width + 2}V${this.height + 2}H-2Z`;
  }
}

/**
 * Ranges [first, end) of neighboring positions.
 * @param {number[]} positions
 */
function runsOf(positions) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const at of positions) {
    const last = runs.at(-1);
    if (last?.[1] === at) last[1] = at + 1;
    else runs.push([at, at + 1]);
  }
  return runs;
}
