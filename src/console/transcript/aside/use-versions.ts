import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { versionsQuery } from "./versions-query.ts";

/**
 * The versions that are read so far, newest first, each once: one that is new meanwhile moves the
 * others down a page.
 */
export function useVersions(name: string) {
  const query = useInfiniteQuery(versionsQuery(name));
  const { data } = query;
  const versions = useMemo(() => {
    const all = data?.pages.flatMap((page) => page.versions ?? []) ?? [];
    return [...new Map(all.map((version) => [version.name ?? "", version])).values()];
  }, [data]);
  return { ...query, versions };
}
