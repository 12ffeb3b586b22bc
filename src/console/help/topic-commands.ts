import type { helpTopics } from "../text/help.ts";
import {
  commandIds,
  commandTable,
  type CommandGroup,
  type CommandId,
} from "../transcript/edit/keys/command-table.ts";

export type HelpTopicId = keyof typeof helpTopics;

const topicOfGroup: Readonly<Record<CommandGroup, HelpTopicId>> = {
  playing: "listen",
  text: "correct",
  speakers: "speakers",
  finding: "find",
  checking: "check",
  times: "times",
  page: "keyboard",
};

/** The commands that belong to another topic than their group. */
const topicOfCommand: Readonly<Partial<Record<CommandId, HelpTopicId>>> = {
  toggleSubtitles: "subtitles",
  read: "save",
  save: "save",
  saveWithNote: "save",
};

/** Returns the commands of a topic. Each command belongs to one. */
export function commandsOfTopic(topic: HelpTopicId): readonly CommandId[] {
  return commandIds.filter(
    (id) => (topicOfCommand[id] ?? topicOfGroup[commandTable[id].group]) === topic,
  );
}
