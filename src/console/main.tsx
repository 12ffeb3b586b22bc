// First: nothing comes before taking a secret out of the address.
import "./sign-in/arrival.ts";
import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/source-serif-4/wght.css";
import "./theme/tokens.css";
import "./theme/shapes.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { mayPass } from "./api/call-api.ts";
import { watchReach } from "./api/reach.ts";
import { keepAccountsApart, watchOtherTabs } from "./api/session.ts";
import { Console } from "./console.tsx";
import { Announcer } from "./parts/announcer.tsx";
import { followLinks } from "./sign-in/link.ts";
import { LanguageProvider } from "./text/language.tsx";
import { chosenTheme, showTheme } from "./theme/theme.ts";
import { UploadsProvider } from "./upload/uploads.tsx";

showTheme(chosenTheme());
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (times, error) => times < 3 && mayPass(error),
      // Also without a network, for the service may be on this machine; what failed then is asked
      // for again when it is back.
      networkMode: "always",
      refetchOnReconnect: true,
    },
    // What was pressed without a network fails where it was pressed: it must not be done unseen,
    // later.
    mutations: { networkMode: "always" },
  },
});
const place = document.querySelector("#console");
if (!place) throw new Error("the page has no place for the console");
const root = createRoot(place);
keepAccountsApart(queries);
watchOtherTabs(queries, () => {
  // Nothing of what was seen or typed stays, seen or in memory. What asks before a page is left
  // goes with the pages.
  root.unmount();
  location.replace("/console/");
});
// A page that the browser has kept, to be gone back to, may be of somebody who has signed out
// since.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
watchReach(queries);
followLinks(queries);
root.render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <LanguageProvider>
        <Announcer>
          <Router base="/console">
            <UploadsProvider>
              <Console />
            </UploadsProvider>
          </Router>
        </Announcer>
      </LanguageProvider>
    </QueryClientProvider>
  </StrictMode>,
);
