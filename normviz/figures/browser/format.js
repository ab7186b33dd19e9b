// Numbers and indices as a reader writes them.

const MINUS = "\u2212";

function number(value, digits = 4) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : `${MINUS}inf`;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
    const [mantissa, power] = value.toExponential(Math.max(0, digits - 2)).split("e");
    return `${trimmed(mantissa)}e${power.replace("+", "")}`.replaceAll("-", MINUS);
  }
  const places = size >= 1 ? Math.max(0, digits - Math.ceil(Math.log10(size + 1e-12))) : size ? digits - 2 - Math.floor(Math.log10(size)) : 0;
  return trimmed(value.toFixed(Math.min(places, 8))).replace("-", MINUS);
}

function trimmed(text) {
  const short = text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  return short === "-0" ? "0" : short;
}

// For a cell or a strip: as few digits as fit.
function short(value) {
  if (value === null) return "nan";
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return number(value);
  if (size >= 1e5) return value.toExponential(0).replace("e+", "e").replace("-", MINUS);
  const text = size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
  return (Number(text) === 0 ? trimmed(text.replace("-", "")) : trimmed(text)).replace("-", MINUS);
}

const bracketed = (name, index) => (index.length ? `${name}[${index.join(", ")}]` : name);
const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const inBrackets = (value) => (value < 0 ? `(${number(value)})` : number(value));
