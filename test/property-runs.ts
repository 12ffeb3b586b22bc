/** The gate tries one case in so many: the same ones each time (fixed-seed.ts), so more of them show nothing new. */
const share = process.env["PROPERTY_RUNS"] === "all" ? 1 : 4;

/** How often a property is tried, of `all` times: `npm run test:long` tries them all, and others each time. */
export function runs(all: number): number {
  return Math.ceil(all / share);
}
