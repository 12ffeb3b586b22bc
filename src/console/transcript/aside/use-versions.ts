import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { versionsQuery } from "./versions-query.ts";

/**
 * Returns the versions read so far, newest first. Each version is listed once, even if a version is
 * created in the meantime and moves the others to later pages.
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
