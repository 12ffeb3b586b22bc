// This import is first because it removes a secret from the address before anything else runs.
import "./sign-in/arrival.ts";
import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/source-serif-4/wght.css";
import "./theme/tokens.css";
import "./theme/shapes.css";
import "./theme/print.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { isRetryable } from "./api/call-api.ts";
import { closeDrafts } from "./api/open-drafts.ts";
import { watchReach } from "./api/reach.ts";
import { stopStoring } from "./api/unsaved-work.ts";
import { deleteAllRecordings } from "./live/delete-recordings.ts";
import { clearOnIdentityChange, watchOtherTabs } from "./api/session.ts";
import { Console } from "./console.tsx";
import { Announcer } from "./parts/announcer.tsx";
import { watchStyles } from "./parts/load-problems.ts";
import { followLinks } from "./sign-in/link.ts";
import { LanguageProvider } from "./text/language.tsx";
import { chosenTheme, showTheme } from "./theme/theme.ts";
import { UploadsProvider } from "./upload/uploads.tsx";

showTheme(chosenTheme());
watchStyles();
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (times, error) => times < 3 && isRetryable(error),
      // Queries run even without a network, because the service may be on this machine. Failed
      // queries are refetched when the network is available again.
      networkMode: "always",
      refetchOnReconnect: true,
    },
    // A mutation without a network fails immediately, because it must not run later, unnoticed by
    // the user.
    mutations: { networkMode: "always" },
  },
});
const place = document.querySelector("#console");
if (!place) throw new Error("the page has no place for the console");
const root = createRoot(place);
clearOnIdentityChange(queries);
// The page of a link has no user, whatever happens in other tabs.
const isShared = location.pathname.startsWith("/console/shared/");
const SharedPage = lazy(async () => {
  const { SharedPage } = await import("./shared/shared-page.tsx");
  return { default: SharedPage };
});
const leaveUser = (): void => {
  // No text that was shown or typed stays on the screen or in memory. Unmounting also removes the
  // handlers that ask for confirmation before a page is left.
  closeDrafts();
  stopStoring();
  // The browser has deleted them already, unless this tab has stored something since.
  deleteAllRecordings();
  root.unmount();
  location.replace("/console/");
};
if (!isShared) watchOtherTabs(queries, leaveUser);
// A page from the browser's back/forward cache may belong to a user who has since signed out.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
watchReach(queries);
if (!isShared) followLinks(queries);
root.render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <LanguageProvider>
        <Announcer>
          <Router base="/console">
            {isShared ? (
              <Suspense>
                <SharedPage />
              </Suspense>
            ) : (
              <UploadsProvider>
                <Console />
              </UploadsProvider>
            )}
          </Router>
        </Announcer>
      </LanguageProvider>
    </QueryClientProvider>
  </StrictMode>,
);
