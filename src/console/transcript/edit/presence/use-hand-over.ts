import { useEffect, useRef } from "react";
import { identityOf } from "../../../api/session.ts";
import { useSession } from "../../../api/use-session.ts";
import type { Save } from "../use-save.ts";
import { whenAskedForText } from "./tab-lock.ts";

/** Stores the draft and goes back to reading when another tab of this browser edits the text. */
export function useHandOver(name: string, { handOver }: Save, onTaken: () => void): void {
  const key = `${identityOf(useSession())} ${name}`;
  const latest = useRef({ handOver, onTaken });
  useEffect(() => {
    latest.current = { handOver, onTaken };
  });
  useEffect(() => {
    const give = async (): Promise<void> => {
      const { handOver, onTaken } = latest.current;
      if (await handOver()) onTaken();
    };
    return whenAskedForText(key, () => void give());
  }, [key]);
}
