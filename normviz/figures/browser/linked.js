// The figures as a Streamlit component. Streamlit calls it at every change, and calls what it returned when the figure goes.

import { mountFigure } from "./mount.js";

/** @param {ComponentArguments} component */
export default function mount(component) {
  return mountFigure(component).remove;
}
