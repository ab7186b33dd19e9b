// Where each drawn element is, in pixels, and which rectangles its peers fill.

import { indexOf, positionOf, positionsOf } from "./sharing.ts";
import { cutAxes, facetAxes, gapsBefore } from "./slices.ts";

const ELLIPSIS = 14; // px: the gap where slices are left out
const BETWEEN_CUT = 24; // px: the gap between facets in which slices are left out
const FACET = 40, COLUMN = 12, ONE_OF_TWO = 8; // px: minimum width of a facet, of a column, and of a column in a facet with at most two columns
const LEAST = 7, LEAST_CUT = 13; // px: minimum height of a cell, without and with slices left out
const TALL = 4; // on a projector, cells are up to so many times as high as wide: they fill the window
const MANY = 64; // with more rows, a cell may be 1 px high

export class Geometry {
  across = 1; // the facets in a line, the lines of a band, and the lines of all bands
  lines = 1;
  down = 1;
  grid: GridData;
  extent: number[];
  columns: number;
  rows: number;
  facets: number;
  together: number;
  cellH: number;
  cellW: number;
  xs: number[];
  ys: number[];
  facetW: number;
  facetH: number;
  lefts: number[];
  tops: number[];
  apart;
  width: number;
  height: number;

  /**
   * @param height grows where it is too small for the rows
   * @param room ``most``: the largest height of a cell; ``gapY``: room for labels between facets; ``square``: cells as wide as high;
   *   ``lines``: the least number of lines of facets that belong side by side; ``scale``: how much it is enlarged, for a projector:
   *   then it may be smaller, and its cells higher than wide
   */
  constructor(grid: GridData, width: number, height: number, room: { most: number, gapY?: number, square?: boolean, lines?: number, scale?: number }) {
    this.grid = grid;
    this.extent = grid.indices.map((drawn) => drawn.length);
    const drawn = (axis: number | null) => (axis === null ? [0] : grid.indices[axis]);
    const skipX = gapsBefore(drawn(grid.col)), skipY = gapsBefore(drawn(grid.row));
    this.columns = skipX.length;
    this.rows = skipY.length;
    this.facets = grid.facets.reduce((product, axis) => product * this.extent[axis], 1);
    const { band } = facetAxes(grid);
    this.together = band === null ? this.facets : this.facets / this.extent[band]; // facets in a band
    const { scale = 1 } = room, apart = 10 / scale;
    this.wrap(width * scale, room.lines);
    const apartX = last(skipX) ? BETWEEN_CUT : this.across * this.columns > (width * scale) / 6 ? 2 : apart, apartY = last(skipY) ? BETWEEN_CUT : apart;
    const gapX = this.across > 1 ? Math.min(apartX, (0.25 * width) / (this.across - 1)) : 0;
    const gapY = room.gapY || (this.down > 1 ? (this.down * this.rows > (height * scale) / 6 ? 2 : apartY) : 0);
    const leftOutX = this.leftOut(this.across, (place) => this.facetAt(place, 0)), leftOutY = this.leftOut(this.down, (line) => this.facetAt(0, line));
    const outX = ELLIPSIS * (this.across * last(skipX) + last(leftOutX)), outY = ELLIPSIS * (this.down * last(skipY) + last(leftOutY));
    const fullX = (width - (this.across - 1) * gapX - outX) / (this.across * this.columns);
    const fullY = (height - (this.down - 1) * gapY - outY) / (this.down * this.rows), least = this.down * this.rows > MANY ? 1 : (cutAxes(grid).length ? LEAST_CUT : LEAST) / scale;
    this.cellH = Math.max(least, Math.min(fullY, room.most, Math.max(fullX * (scale > 1 ? TALL : 1), 6)));
    this.cellW = Math.min(fullX, room.most * 1.5, Math.max(this.cellH * 1.5, 6));
    if (room.square) this.cellW = this.cellH = Math.min(fullX, fullY, room.most);
    if (this.cellW >= 8) this.cellW = Math.floor(this.cellW);
    if (this.cellH >= 8) this.cellH = Math.floor(this.cellH);
    this.xs = skipX.map((gaps, column) => column * this.cellW + gaps * ELLIPSIS); // left edges of the columns of a facet
    this.ys = skipY.map((gaps, row) => row * this.cellH + gaps * ELLIPSIS);
    this.facetW = last(this.xs) + this.cellW;
    this.facetH = last(this.ys) + this.cellH;
    this.lefts = leftOutX.map((gaps, place) => place * (this.facetW + gapX) + gaps * ELLIPSIS); // left edges of facets
    this.tops = leftOutY.map((gaps, line) => line * (this.facetH + gapY) + gaps * ELLIPSIS);
    this.apart = { columns: increasesOf(skipX), rows: increasesOf(skipY), places: increasesOf(leftOutX), lines: increasesOf(leftOutY) }; // places before which slices are left out
    this.width = last(this.lefts) + this.facetW;
    this.height = last(this.tops) + this.facetH;
  }

  /** Facets that belong side by side take more lines where they would be too narrow. */
  wrap(width: number, least = 1) {
    const narrowest = this.columns > 2 ? Math.min(FACET, COLUMN * this.columns) : ONE_OF_TWO * this.columns;
    const fitting = Math.max(1, Math.floor((width + 10) / (narrowest + 10)));
    this.lines = Math.max(least, Math.ceil(this.together / Math.min(this.grid.across, fitting))); // lines of a band
    this.across = Math.ceil(this.together / this.lines);
    this.down = (this.facets / this.together) * this.lines;
  }

  /** How many times facets are left out before each of a line of facets. */
  leftOut(count: number, facetAt: (number: number) => number | null) {
    let gaps = 0;
    return Array.from({ length: count }, (_, number) => {
      const before = number && this.lines === 1 ? facetAt(number - 1) : null, now = facetAt(number);
      if (before === null || now === null) return gaps;
      const from = this.facetIndex(before), to = this.facetIndex(now), { indices } = this.grid;
      const jumps = this.grid.facets.some((axis) => to[axis] > from[axis] && indices[axis][to[axis]] > indices[axis][from[axis]] + 1);
      return (gaps += jumps ? 1 : 0);
    });
  }

  /** The edges of the heatmap's columns, or of its rows, and which of these hold cells; all others are gaps. */
  raster(across: boolean) {
    const [facets, lines, cell] = across ? [this.lefts, this.xs, this.cellW] : [this.tops, this.ys, this.cellH];
    const edges = [facets[0]], cells = [];
    for (const facet of facets)
      for (const line of lines) {
        if (facet + line - last(edges) > 0.01) edges.push(facet + line);
        cells.push(edges.length - 1);
        edges.push(facet + line + cell);
      }
    return { edges, cells };
  }

  /** The facet at a place of a line; null where the last line of a band is short. */
  facetAt(place: number, line: number) {
    const inBand = (line % this.lines) * this.across + place;
    return inBand < this.together ? Math.floor(line / this.lines) * this.together + inBand : null;
  }

  /** The place and the line of a facet. */
  placeOf(facet: number) {
    const inBand = facet % this.together;
    return [inBand % this.across, Math.floor(facet / this.together) * this.lines + Math.floor(inBand / this.across)];
  }

  facetOf(index: Index) {
    const { facets } = this.grid;
    return positionOf(facets.map((axis) => index[axis]), facets.map((axis) => this.extent[axis]));
  }

  /** The index of a facet's first element. */
  facetIndex(facet: number) {
    const { facets } = this.grid, index = this.extent.map(() => 0);
    indexOf(facet, facets.map((axis) => this.extent[axis])).forEach((at, number) => (index[facets[number]] = at));
    return index;
  }

  /** The rectangle of an element. */
  cellBox(index: Index) {
    const [place, line] = this.placeOf(this.facetOf(index)), row = this.grid.row === null ? 0 : index[this.grid.row];
    const x = this.lefts[place] + this.xs[index[this.grid.col]], y = this.tops[line] + this.ys[row];
    return { x, y, width: this.cellW, height: this.cellH };
  }

  /** The element under a point; null in a gap. */
  elementAt(x: number, y: number): Index | null {
    const place = numberAt(this.lefts, this.facetW, x), line = numberAt(this.tops, this.facetH, y);
    const column = numberAt(this.xs, this.cellW, x - this.lefts[place]), row = numberAt(this.ys, this.cellH, y - this.tops[line]);
    return place < 0 || line < 0 || column < 0 || row < 0 ? null : this.element(place, line, column, row);
  }

  /** The element in a row and a column of the facet at a place of a line; null if no facet is there. */
  element(place: number, line: number, column: number, row: number): Index | null {
    const facet = this.facetAt(place, line);
    if (facet === null) return null;
    return this.indexIn(facet, column, row);
  }

  indexIn(facet: number, column: number, row: number) {
    const index = this.facetIndex(facet);
    index[this.grid.col] = column;
    if (this.grid.row !== null) index[this.grid.row] = row;
    return index;
  }

  /** Visits every drawn element. */
  each(visit: (index: Index) => void) {
    for (let facet = 0; facet < this.facets; facet++)
      for (let row = 0; row < this.rows; row++)
        for (let column = 0; column < this.columns; column++) visit(this.indexIn(facet, column, row));
  }

  /** The next element in a direction, through all facets; the same element at the border. */
  neighbor(index: Index, right: number, down: number) {
    let [place, line] = this.placeOf(this.facetOf(index));
    let column = index[this.grid.col] + right, row = (this.grid.row === null ? 0 : index[this.grid.row]) + down;
    if (column < 0) [place, column] = [place - 1, this.columns - 1];
    if (column >= this.columns) [place, column] = [place + 1, 0];
    if (row < 0) [line, row] = [line - 1, this.rows - 1];
    if (row >= this.rows) [line, row] = [line + 1, 0];
    if (place < 0 || place >= this.across || line < 0 || line >= this.down) return index;
    return this.element(place, line, column, row) ?? index;
  }

  /** One path around all peers of an element: neighbors are drawn as one rectangle. */
  outline(tables: number[][], index: Index) {
    const { columns, rows, places } = this.peers(tables, index);
    let path = "";
    for (const [place, line] of places) {
      const x = this.lefts[place], y = this.tops[line];
      for (const [top, bottom] of rows)
        for (const [left, right] of columns) path += `M${x + left},${y + top}H${x + right}V${y + bottom}H${x + left}Z`;
    }
    return path;
  }

  /** The middle of an element's peers in their lowest line of facets, and the bottom of this line. */
  belowPeers(tables: number[][], index: Index) {
    const { columns, places } = this.peers(tables, index), lowest = Math.max(...places.map(([, line]) => line));
    const lefts = places.filter(([, line]) => line === lowest).map(([place]) => this.lefts[place]);
    const left = Math.min(...lefts) + columns[0][0], right = Math.max(...lefts) + last(columns)[1];
    return { middle: (left + right) / 2, bottom: this.tops[lowest] + this.facetH };
  }

  /** Where an element's peers are: the runs of columns and rows, and the places and lines of the facets. */
  peers(tables: number[][], index: Index) {
    const { col, row } = this.grid, alike = tables.map((table, axis) => positionsOf(table, table[index[axis]]));
    const columns = runsOf(alike[col], this.xs, this.cellW), rows = runsOf(row === null ? [0] : alike[row], this.ys, this.cellH);
    let facets = [0];
    for (const axis of this.grid.facets) facets = facets.flatMap((number) => alike[axis].map((at) => number * this.extent[axis] + at));
    return { columns, rows, places: facets.map((facet) => this.placeOf(facet)) };
  }

  /** The edges of all cells as a path, on the lines between them; where there are no lines, the edges of facets. */
  get lattice() {
    const { indices } = this.grid, { cellW, cellH } = this, cells: string[] = [];
    if (!this.gap) return this.outline(indices.map((drawn) => drawn.map(() => 0)), indices.map(() => 0));
    this.each((index) => {
      const { x, y } = this.cellBox(index);
      cells.push(`M${x - 0.5},${y - 0.5}h${cellW}v${cellH}h${-cellW}z`);
    });
    return cells.join("");
  }

  /** px between neighboring cells. */
  get gap() {
    return this.cellW >= 6 && this.cellH >= 6 ? 1 : 0;
  }

  get border() {
    return `M-2,-2H${this.width + 2}V${this.height + 2}H-2Z`;
  }
}

/** The positions at which counts grow. */
const increasesOf = (counts: number[]) => counts.flatMap((count, at) => (at && count > counts[at - 1] ? [at] : []));

const last = <Item>(items: Item[]): Item => items[items.length - 1];

/** Which of the ranges of one size that begin at ``starts`` holds a position; -1 if it is between them. */
function numberAt(starts: number[], size: number, at: number) {
  return starts.findIndex((start) => start <= at && at < start + size);
}

/** The stretches from the first to the last pixel of positions that touch each other. */
function runsOf(positions: number[], starts: number[], size: number) {
  const runs: [number, number][] = [];
  for (const at of positions) {
    const run = runs.at(-1);
    if (run && starts[at] - run[1] < 0.01) run[1] = starts[at] + size;
    else runs.push([starts[at], starts[at] + size]);
  }
  return runs;
}
