/** A service to fuzz, with the credentials that open its doors. */
export interface Target {
	url: string;
	organizationId: string;
	/** Ids of existing records, devices and people. Any of them may be named anywhere. */
	ids: string[];
	/** Device keys. A revoked one is as good as any. */
	keys: string[];
	/** API tokens; the first is an administrator's. */
	tokens: string[];
	/** The cookie of a user who is signed in at the console. */
	cookie: string;
	/** For operations that would end the session or membership that the other cases need. */
	spare?: Spare;
}

/** Users whose loss costs nothing, in an organization of their own. */
export interface Spare {
	organizationId: string;
	ids: string[];
	tokens: string[];
	/** Cookies of several users, so that each of them makes only few records. */
	cookies: string[];
}

export interface Case {
	/** Which door, and what behind it: "mcp addRisk". */
	name: string;
	/** The case's fault, if any: "deep JSON". */
	kind: string;
	method: string;
	path: string;
	headers: Record<string, string>;
	body: string | Uint8Array;
}

/** A request's body as JSON text, because no JavaScript value gives 1e400 or two equal keys. */
export interface Body {
	kind: string;
	text: string;
}
