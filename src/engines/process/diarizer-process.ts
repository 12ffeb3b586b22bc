// The program of a diarizer process: loads one model and detects who speaks in windows of
// recordings.
import { constants, setPriority } from "node:os";
import { parseNamedCard, readCardText } from "../../models/models-folder.ts";
import type { DiarizerSource } from "../protocol/engine-source.ts";
import { DiarizerHost } from "./diarizer-host.ts";
import { runProcess } from "./run-process.ts";

// Diarization has low priority, since words are needed first.
setPriority(constants.priority.PRIORITY_LOW);
await runProcess(async (source, writer) => {
  const { folder }: DiarizerSource = JSON.parse(source);
  const card = parseNamedCard(await readCardText(folder));
  // Imported dynamically, so that a library that cannot be loaded is reported.
  const { checkLibraryFiles } = await import("../sherpa-onnx/library-files.ts");
  await checkLibraryFiles(card, folder);
  const { openDiarizer } = await import("../sherpa-onnx/diarizer.ts");
  return new DiarizerHost(await openDiarizer(card, folder), writer);
});
