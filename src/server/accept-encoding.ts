/**
 * Returns whether Accept-Encoding (RFC 9110, section 12.5.3) names an encoding and does not prefer
 * identity to it.
 */
export function takesEncoding(acceptEncoding: string, encoding: string): boolean {
  const weights = new Map(
    acceptEncoding.split(",").map((each) => {
      const [name = "", ...params] = each.split(";").map((part) => part.trim().toLowerCase());
      const weight = params.find((param) => param.startsWith("q="))?.slice(2) ?? "1";
      return [name, Number(weight)] as const;
    }),
  );
  const weight = weights.get(encoding) ?? 0;
  return weight > 0 && weight >= (weights.get("identity") ?? 0);
}
