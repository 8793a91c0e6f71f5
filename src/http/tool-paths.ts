import type { OauthServer } from "../oauth/oauth-server.ts";

export const MCP = "/api/mcp/v1";
export const HEALTH = new Set(["/api/mcp/v1/health", "/api/mcp/health"]);
export const DOOR = "/api/mcp/tools/";
export const FILES = "/api/files";
/**
 * Paths where clients look for an authorization server after a 401. Without ASSAY_OAUTH=on, Assay has
 * none.
 */
export const NO_OAUTH =
	/^(\/api\/mcp\/v1)?\/\.well-known\/(oauth-|openid-configuration)/;

export function isFilesPath(pathname: string): boolean {
	return pathname === FILES || pathname.startsWith(`${FILES}/`);
}

/** Returns the URL of a request to the tool server, or undefined for any other request. */
export function ourUrl(
	target: string,
	oauth: OauthServer | undefined,
): URL | undefined {
	// Nearly every request target begins with the path. A proxy may send a target that begins with an
	// origin.
	if (
		target.startsWith("/") &&
		!/^\/(api\/mcp\/|api\/files|\.well-known\/|oauth\/)/.test(target)
	) {
		return undefined;
	}
	const url = URL.parse(target, "http://localhost");
	if (!url) return undefined;
	const { pathname } = url;
	const isOurs =
		pathname === MCP ||
		HEALTH.has(pathname) ||
		pathname.startsWith(DOOR) ||
		isFilesPath(pathname) ||
		NO_OAUTH.test(pathname) ||
		oauth?.has(pathname);
	return isOurs ? url : undefined;
}
