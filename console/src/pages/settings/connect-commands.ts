export interface Access {
	/** The address of the service. */
	baseUrl: string;
	/** The token, or an expression with which the client looks it up. */
	token: string;
}

/** The name of the environment variable that holds the token, as in docs/mcp.md. */
export const VARIABLE = "ASSAY_TOKEN";

export function exportCommand(token: string): string {
	return `export ${VARIABLE}=${token}`;
}

/** Returns the command that adds Assay's MCP server to Claude Code. */
export function claudeCommand({ baseUrl, token }: Access): string {
	return `claude mcp add --transport http assay ${baseUrl}/api/mcp/v1 --header "Authorization: Bearer ${token}"`;
}

/** Returns the configuration for clients that read it from a JSON file. */
export function mcpServersJson({ baseUrl, token }: Access): string {
	const server = {
		type: "http",
		url: `${baseUrl}/api/mcp/v1`,
		headers: { Authorization: `Bearer ${token}` },
	};
	return JSON.stringify({ mcpServers: { assay: server } }, null, 2);
}

/**
 * Returns the configuration of a client on Python's SDK 1.x. These clients end their session at an
 * HTTP 403, so their address asks for denied calls as results.
 */
export function pythonConfiguration({ baseUrl, token }: Access): string {
	return `{
    "assay": {
        "transport": "streamable_http",
        "url": "${baseUrl}/api/mcp/v1?errors=result",
        "headers": {"Authorization": ${token}},
    }
}`;
}

/** Returns a curl command that checks whether a token works. */
export function curlCommand({ baseUrl, token }: Access): string {
	return `curl ${baseUrl}/api/mcp/tools/listOrganizations -H "Authorization: Bearer ${token}"`;
}
