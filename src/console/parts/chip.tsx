import "./chip.css";

/** A word about a thing: a keyword, a scope. */
export function Chip({ text }: { readonly text: string }) {
  return <span className="chip">{text}</span>;
}
