import { isIPv4 } from "node:net";

/** A service as DNS-SD describes it (RFC 6763). */
export interface AnnouncedService {
  /** One label, of the service and of its host: see labelOf(). */
  readonly label: string;
  readonly port: number;
  /** The addresses of the service on one network, IPv4 and IPv6. */
  readonly addresses: readonly string[];
}

interface RecordBase {
  readonly name: string;
  /** Seconds for which clients may keep the record. */
  readonly ttl: number;
  /** Whether it replaces what clients have (the cache-flush bit of RFC 6762, section 10.2). */
  readonly flush?: boolean;
}

/** A resource record, as multicast-dns takes it. */
export type ServiceRecord =
  | (RecordBase & { readonly type: "PTR" | "A" | "AAAA"; readonly data: string })
  | (RecordBase & {
      readonly type: "SRV";
      readonly data: { readonly target: string; readonly port: number };
    })
  | (RecordBase & { readonly type: "TXT"; readonly data: string[] });

/** The type under which Home Assistant looks for Wyoming. */
export const serviceType = "_wyoming._tcp.local";
/** The name that lists the types of a network (RFC 6763, section 9). */
const typesName = "_services._dns-sd._udp.local";

/** RFC 6762, section 10: two minutes for records that depend on a host, 75 minutes for others. */
const hostTtl = 120;
const otherTtl = 4_500;
const labelLengthMax = 63;

/**
 * Returns the label of a service: clients distinguish services by it, so it has the name of the
 * machine and the port.
 */
export function labelOf(hostname: string, port: number): string {
  const [first = ""] = hostname.toLowerCase().split(".", 1);
  const end = `-${port}`;
  const plain = `hlust-${first.replaceAll(/[^a-z\d]+/g, "-")}`.slice(
    0,
    labelLengthMax - end.length,
  );
  return `${plain.replace(/-+$/, "")}${end}`;
}

/** Returns all records of a service. With `ttlMax` 0 they announce its end. */
export function serviceRecords(service: AnnouncedService, ttlMax = Infinity): ServiceRecord[] {
  const { label, port, addresses } = service;
  const name = `${label}.${serviceType}`;
  const target = `${label}.local`;
  const host = { ttl: Math.min(hostTtl, ttlMax), flush: true };
  const other = { ttl: Math.min(otherTtl, ttlMax) };
  return [
    { name: serviceType, type: "PTR", ...other, data: name },
    // Others on the network may have services of the type, so it never ends.
    ...(ttlMax === 0
      ? []
      : [{ name: typesName, type: "PTR", ...other, data: serviceType } as const]),
    { name, type: "SRV", ...host, data: { target, port } },
    { name, type: "TXT", ...other, flush: true, data: [""] },
    ...addresses.map(
      (data) => ({ name: target, type: isIPv4(data) ? "A" : "AAAA", ...host, data }) as const,
    ),
  ];
}

/** Returns whether a record is an answer to a question. Case does not matter in names. */
export function isAnswer(
  { name, type }: ServiceRecord,
  question: { readonly name: string; readonly type: string },
): boolean {
  const isOfType = question.type === type || question.type === "ANY";
  return isOfType && question.name.toLowerCase() === name;
}
