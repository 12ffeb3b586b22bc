import { resolve } from "node:path";
import type { CertificateFiles } from "../std/certificate.ts";
import { ifSet, type ReadSetting, type Setting } from "../std/setting.ts";

/** The settings of TLS. */
export const tlsSettings = {
  certificate: {
    name: "HLUST_TLS_CERTIFICATE",
    meaning:
      "File with the certificate of HLUST_PORT and those of its issuers (PEM); the port then needs TLS. It is read again when it changes",
    fallback: "none: cleartext, for a proxy in front of the service",
    isLive: true,
    parse: ifSet((text) => resolve(text)),
  },
  key: {
    name: "HLUST_TLS_KEY",
    meaning: "File with the private key of HLUST_TLS_CERTIFICATE (PEM, without a passphrase)",
    fallback: "none",
    isLive: true,
    parse: ifSet((text) => resolve(text)),
  },
} satisfies Record<string, Setting<string | undefined>>;

/**
 * Reads the settings as a whole. Returns undefined if there is no TLS. Invalid settings are added
 * to `problems`.
 */
export function readTls(read: ReadSetting, problems: string[]): CertificateFiles | undefined {
  const [certificate, key] = [read(tlsSettings.certificate), read(tlsSettings.key)];
  const names = [tlsSettings.certificate.name, tlsSettings.key.name] as const;
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) {
    problems.push(`${names[0]} and ${names[1]} must be set together`);
    return undefined;
  }
  return {
    certificate: { setting: names[0], path: certificate },
    key: { setting: names[1], path: key },
  };
}
