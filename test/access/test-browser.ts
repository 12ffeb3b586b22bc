/**
 * Follows redirects and keeps cookies as a browser does: cookies belong to a host, whatever the
 * port, and SameSite=Strict cookies are not sent after a redirect from another site.
 */
export class TestBrowser {
  /** The cookies, by `<host> <name>`. */
  readonly cookies = new Map<string, string>();
  /** Every URL that the browser has requested. */
  readonly visited: string[] = [];
  readonly #strict = new Set<string>();

  /**
   * Opens a page and returns the URL at which the browser ends up. `site` is the value of the
   * Sec-Fetch-Site header.
   */
  async go(address: string, site = "none"): Promise<URL> {
    let url = new URL(address);
    let isFromElsewhere = false;
    for (let hops = 0; hops < 20; hops += 1) {
      this.visited.push(url.href);
      const response = await fetch(url, {
        redirect: "manual",
        headers: {
          cookie: this.#cookieHeader(url.hostname, isFromElsewhere),
          "sec-fetch-site": site,
        },
      });
      await response.bytes();
      for (const cookie of response.headers.getSetCookie()) this.#keep(url.hostname, cookie);
      const location = response.headers.get("location");
      if (location === null) return url;
      const next = new URL(location, url);
      next.hash ||= url.hash;
      if (next.pathname.startsWith("/console/") && !next.pathname.startsWith("/console/sign-in"))
        return next;
      isFromElsewhere ||= next.origin !== url.origin;
      url = next;
    }
    throw new Error(`redirected again and again: ${this.visited.join(" ")}`);
  }

  #cookieHeader(host: string, isFromElsewhere: boolean): string {
    return Array.from(this.cookies)
      .filter(([name]) => name.startsWith(`${host} `))
      .filter(([name]) => !isFromElsewhere || !this.#strict.has(name))
      .map(([name, value]) => `${name.slice(host.length + 1)}=${value}`)
      .join("; ");
  }

  #keep(host: string, cookie: string): void {
    const [, ownName = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    const name = `${host} ${ownName}`;
    const [, expires] = /;\s*expires=([^;]+)/i.exec(cookie) ?? [];
    const isOver =
      /;\s*max-age=0/i.test(cookie) || (expires !== undefined && Date.parse(expires) < Date.now());
    if (isOver) this.cookies.delete(name);
    else this.cookies.set(name, value);
    if (/;\s*samesite=strict/i.test(cookie)) this.#strict.add(name);
  }
}
