/** Name of Assay's own agent in its requests. */
export const OWN_AGENT = "assay-agent";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Returns the name of the agent that sent a request, such as `probo-agent`. An agent names itself in
 * the header User-Agent, with the version that it reports: `probo-agent/1.2.3`. Returns undefined for
 * other headers, such as that of curl, because they name a tool and not the agent.
 */
export function agentNameOf(
	userAgent: string | undefined,
	version: string,
): string | undefined {
	if (userAgent === undefined) return undefined;
	const slash = userAgent.indexOf("/");
	const name = userAgent.slice(0, Math.max(0, slash));
	const rest = userAgent.slice(slash + 1);
	const isItsVersion = rest === version || rest.startsWith(`${version} `);
	return isItsVersion && NAME.test(name) ? name : undefined;
}

/** Returns true unless the agent names itself as another one. */
export const isOwnAgent = (name: string | null | undefined): boolean =>
	name === undefined || name === null || name === OWN_AGENT;
