/** The client that the tests say they are. */
export const INFO = { name: "assay-test", version: "1.2.3" };

/** Makes a request of revision 2026-07-28 with its headers. */
export function modern(method: string, params: Record<string, unknown> = {}) {
	return {
		body: {
			jsonrpc: "2.0",
			id: 7,
			method,
			params: {
				...params,
				_meta: {
					"io.modelcontextprotocol/protocolVersion": "2026-07-28",
					"io.modelcontextprotocol/clientInfo": INFO,
					"io.modelcontextprotocol/clientCapabilities": {},
				},
			},
		},
		headers: {
			"mcp-protocol-version": "2026-07-28",
			"mcp-method": method,
			...(typeof params.name === "string" ? { "mcp-name": params.name } : {}),
		},
	};
}

/** Makes a request of an older revision. */
export const legacy = (method: string, params: object = {}) => ({
	jsonrpc: "2.0",
	id: 7,
	method,
	params,
});
