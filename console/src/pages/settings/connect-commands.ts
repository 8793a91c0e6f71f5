export interface Access {
	/** The service's address. */
	baseUrl: string;
	/** The secret, or the way in which a client is told to look it up. */
	token: string;
}

/** What a shell and Claude Code write for the variable that docs/mcp.md names. */
export const VARIABLE = "ASSAY_TOKEN";

export function exportCommand(token: string): string {
	return `export ${VARIABLE}=${token}`;
}

/** Adds the server to Claude Code. */
export function claudeCommand({ baseUrl, token }: Access): string {
	return `claude mcp add --transport http assay ${baseUrl}/api/mcp/v1 --header "Authorization: Bearer ${token}"`;
}

/** For clients that are configured by a file. */
export function mcpServersJson({ baseUrl, token }: Access): string {
	const server = {
		type: "http",
		url: `${baseUrl}/api/mcp/v1`,
		headers: { Authorization: `Bearer ${token}` },
	};
	return JSON.stringify({ mcpServers: { assay: server } }, null, 2);
}

/** The usual check that a token works. */
export function curlCommand({ baseUrl, token }: Access): string {
	return `curl ${baseUrl}/api/mcp/tools/listOrganizations -H "Authorization: Bearer ${token}"`;
}
