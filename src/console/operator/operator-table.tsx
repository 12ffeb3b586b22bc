import type { ReactNode } from "react";

/** A table of the page for operators, with its title. It scrolls if the window is narrow. */
export function OperatorTable({
  id,
  title,
  columns,
  children,
  level = 2,
}: {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly string[];
  readonly children: ReactNode;
  readonly level?: 2 | 3;
}) {
  const Heading = level === 2 ? "h2" : "h3";
  return (
    <div>
      <div className="use-head">
        <Heading id={id}>{title}</Heading>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard must reach a table that scrolls */}
      <section className="use-scroll" tabIndex={0} aria-labelledby={id}>
        <table className="use-table">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </section>
    </div>
  );
}
