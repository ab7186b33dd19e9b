// One gamma and one beta for all elements, which a reader chooses by sliders.

import { button, html } from "../common/dom.ts";
import { formatNumber } from "../common/format.ts";
import { _ } from "../common/messages.ts";

const LIMITS = { gamma: [-3, 3], beta: [-3, 3] }, STEP = 0.1; // the limits of normviz.scene.scene, too

type Parameter = "gamma" | "beta";

export class GammaAndBetaSliders {
  sliders = new Map<Parameter, { root: HTMLElement, input: HTMLInputElement, output: HTMLElement }>();
  root: HTMLDivElement;
  reset: HTMLButtonElement;

  /** ``isFinal``: the reader has let go of the slider */
  constructor(parent: HTMLElement, choose: (choice: GammaBetaChoice | null, isFinal: boolean) => void) {
    this.root = html("div", "nv-sliders", parent);
    for (const name of ["gamma", "beta"] as Parameter[]) {
      const root = html("label", "nv-slider", this.root), input = html("input", "", null), output = html("output", "", null);
      html("span", "", root, name);
      Object.assign(input, { type: "range", min: LIMITS[name][0], max: LIMITS[name][1], step: STEP });
      root.append(input, output);
      input.addEventListener("input", () => choose(this.choice, false));
      input.addEventListener("change", () => choose(this.choice, true));
      this.sliders.set(name, { root, input, output });
    }
    this.reset = button("nv-button", this.root, _("The layer's own"), () => choose(null, true));
    this.reset.title = _("Back to the gamma and the beta that the layer has");
  }

  get choice(): GammaBetaChoice {
    const [gamma, beta] = [...this.sliders.values()].map(({ input }) => Number(input.value));
    return { gamma, beta };
  }

  /** ``data`` of the layer itself; ``shown``: whether the output is */
  set({ params, values, scaled, turn }: DecodedData, choice: GammaBetaChoice | null, shown: boolean) {
    this.root.hidden = !params || !shown;
    if (!params) return;
    for (const [name, { root, input, output }] of this.sliders) {
      const own = values?.[name], [low, high] = own ? limitsOf(own.values) : [0, 0];
      root.hidden = name === "beta" && !params.bias;
      input.value = String(choice ? choice[name] : (low + high) / 2);
      const chosen = choice ? choice[name] : scaled && low === high ? low : null;
      output.textContent = chosen !== null
        ? _("{value} for every element", { value: formatNumber(chosen) })
        : low === high ? formatNumber(low) : _("{low} to {high}", { low: formatNumber(low), high: formatNumber(high) });
    }
    this.reset.hidden = !choice && !(scaled && turn !== undefined); // a file does not hold the layer's own beside those of its link
  }
}

/** The smallest and the largest number. */
function limitsOf(numbers: Float32Array) {
  return numbers.reduce(([low, high], number) => [Math.min(low, number), Math.max(high, number)], [Infinity, -Infinity]);
}
