import { editKeysText as texts } from "../../../text/edit-keys.ts";
import { type CommandGroup, commandIds, commandTable } from "./command-table.ts";

const groupTitles = {
  playing: texts.groupPlaying,
  text: texts.groupText,
  speakers: texts.groupSpeakers,
  finding: texts.groupFinding,
  checking: texts.groupChecking,
  times: texts.groupTimes,
  page: texts.groupPage,
} as const satisfies Readonly<Record<CommandGroup, { readonly is: string; readonly en: string }>>;

/** The groups with their commands, in the order in which they are listed. */
export const commandGroups = Object.entries(groupTitles).map(([group, title]) => {
  return { title, commands: commandIds.filter((id) => commandTable[id].group === group) };
});
