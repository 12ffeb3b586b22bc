import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";

export interface Certificate {
  /** PEM files. */
  readonly certificate: string;
  readonly key: string;
}

/** Makes a certificate for IP addresses in a folder, and has every TLS client of this process trust it. */
export async function trustedCertificate(
  folder: string,
  addresses: readonly string[],
): Promise<Certificate> {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const names = addresses.map((address) => `IP:${address}`).join(",");
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const about = ["-days", "2", "-subj", "/CN=hlust", "-addext", `subjectAltName=${names}`];
  const files = ["-keyout", key, "-out", certificate];
  await promisify(execFile)("openssl", ["req", "-x509", ...kind, ...about, ...files]);
  setDefaultCACertificates([...getCACertificates("default"), readFileSync(certificate, "utf8")]);
  return { certificate, key };
}
