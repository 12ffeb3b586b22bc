/** What every command of the operator takes. */
export const jsonOption = { json: { meaning: "for programs" } } as const;

export function writeJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}
