/** A service to fuzz, with the credentials that open its doors. */
export interface Target {
	url: string;
	organizationId: string;
	/** The ids of existing records, devices and people. A case may use any of them in any place. */
	ids: string[];
	/** The device keys. It does not matter if one has been revoked. */
	keys: string[];
	/** The API tokens. The first one belongs to an administrator. */
	tokens: string[];
	/** The cookie of a user who is signed in at the console. */
	cookie: string;
	/** Users for operations that would end a session or membership which the other cases need. */
	spare?: Spare;
}

/**
 * Users in an organization of their own. It does not matter if they lose their session or
 * membership.
 */
export interface Spare {
	organizationId: string;
	ids: string[];
	tokens: string[];
	/** The cookies of several users, so that each of them creates only a few records. */
	cookies: string[];
}

export interface Case {
	/** The door and what the case calls through it, such as "mcp addRisk". */
	name: string;
	/**
	 * The fault of the case, such as "deep JSON", or how its body was made, such as "as the schema
	 * says".
	 */
	kind: string;
	method: string;
	path: string;
	headers: Record<string, string>;
	body: string | Uint8Array;
}

/**
 * The body of a request. It is JSON text and not a value, because no JavaScript value becomes 1e400
 * or two equal keys.
 */
export interface Body {
	kind: string;
	text: string;
}
