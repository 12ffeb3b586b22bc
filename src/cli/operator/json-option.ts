/** The option that every operator command has. */
export const jsonOption = { json: { meaning: "print JSON" } } as const;

export function writeJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}
