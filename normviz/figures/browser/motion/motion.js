// Motion that shows a fact; none for a reader who prefers reduced motion.

export const MOTION_TIME = 700; // ms

export function mayMove() {
  return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/**
 * Moves a shape from somewhere else to its place.
 * @param {SVGElement} shape
 * @param {number} dx where it begins, relative to its place
 * @param {number} dy
 */
export function moveFrom(shape, dx, dy) {
  shape.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], { duration: MOTION_TIME, easing: "ease-in-out" });
}

/**
 * Moves a shape to another place and back.
 * @param {SVGElement} shape
 * @param {number} dx where it turns, relative to its place
 * @param {number} dy
 */
export function moveThere(shape, dx, dy) {
  const away = `translate(${dx}px, ${dy}px)`;
  shape.animate(
    [{ transform: "none" }, { transform: away, offset: 0.42 }, { transform: away, offset: 0.58 }, { transform: "none" }],
    { duration: 2 * MOTION_TIME, easing: "ease-in-out" },
  );
}
