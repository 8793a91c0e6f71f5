export interface RouteLabels {
	door: "agent" | "mcp" | "tools" | "console" | "scim" | "health" | "other";
	route: string;
}

const AGENT_ROUTES = new Set(["enroll", "heartbeat", "postures", "unenroll"]);

const SCIM = "/scim/v2/";
const SCIM_ROUTES = new Set([
	"Users",
	"Groups",
	"ServiceProviderConfig",
	"ResourceTypes",
	"Schemas",
]);

const DOORS = [
	["/api/agent/v1/", "agent"],
	["/api/mcp/tools/", "tools"],
	["/api/console/", "console"],
] as const;

/**
 * Returns the labels under which a request is counted. They always come from a fixed list.
 * Otherwise a caller could create an unlimited number of series by inventing addresses.
 */
export function routeOf(
	target: string,
	operations: ReadonlySet<string>,
): RouteLabels {
	const query = target.indexOf("?");
	const path = query < 0 ? target : target.slice(0, query);
	for (const [prefix, door] of DOORS) {
		if (!path.startsWith(prefix)) continue;
		const name = path.slice(prefix.length);
		const known = door === "agent" ? AGENT_ROUTES : operations;
		return { door, route: known.has(name) ? name : "unknown" };
	}
	if (path.startsWith(SCIM)) {
		const [name = ""] = path.slice(SCIM.length).split("/", 1);
		return { door: "scim", route: SCIM_ROUTES.has(name) ? name : "unknown" };
	}
	if (path === "/api/mcp/v1") return { door: "mcp", route: "mcp" };
	if (/^\/(api\/mcp(\/v1)?\/)?health(\/|$)/.test(path)) {
		return { door: "health", route: "health" };
	}
	return { door: "other", route: path.startsWith("/api/") ? "api" : "page" };
}
