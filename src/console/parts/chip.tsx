import "./chip.css";

/** A short label for a keyword, a scope or the like. */
export function Chip({ text }: { readonly text: string }) {
  return (
    <span className="chip" dir="auto">
      {text}
    </span>
  );
}
