import "./chip.css";

/** A short label, such as a keyword or a scope. */
export function Chip({ text }: { readonly text: string }) {
  return <span className="chip">{text}</span>;
}
