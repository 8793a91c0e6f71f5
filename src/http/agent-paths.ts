const ROOT = "/api/agent/v1/";
const ROUTE_NAMES = ["enroll", "heartbeat", "postures", "unenroll"] as const;
export type RouteName = (typeof ROUTE_NAMES)[number];

/**
 * Returns the name of the route that a request target belongs to. The target may have a query, and
 * a proxy may put an origin before the path.
 */
export function routeName(target: string): RouteName | undefined {
	let path = target;
	if (!target.startsWith("/")) path = URL.parse(target)?.pathname ?? "";
	else if (target.includes("?")) path = target.slice(0, target.indexOf("?"));
	if (!path.startsWith(ROOT)) return undefined;
	const name = path.slice(ROOT.length);
	return ROUTE_NAMES.find((known) => known === name);
}

/** Returns true for the paths of the Device Agent API. */
export function isAgentPath(target: string): boolean {
	return routeName(target) !== undefined;
}
