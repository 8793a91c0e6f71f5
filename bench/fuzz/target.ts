/** A service to be asked nonsense, and what opens its doors. */
export interface Target {
	url: string;
	organizationId: string;
	/** Ids of records, devices and people that there are; any of them may be named anywhere. */
	ids: string[];
	/** Keys of devices; one that was unenrolled is as good as any. */
	keys: string[];
	/** API tokens, of an administrator first. */
	tokens: string[];
	/** Of somebody who is signed in at the console. */
	cookie: string;
	/** For what would end the session or membership that the other cases need. */
	spare?: Spare;
}

/** Users whose loss costs nothing, in an organization of their own. */
export interface Spare {
	organizationId: string;
	ids: string[];
	tokens: string[];
	/** Of several users, so that what each of them makes stays little. */
	cookies: string[];
}

export interface Case {
	/** Which door, and what behind it: "mcp addRisk". */
	name: string;
	/** What is wrong with it, if anything: "deep JSON". */
	kind: string;
	method: string;
	path: string;
	headers: Record<string, string>;
	body: string | Uint8Array;
}

/** What a request says, as JSON text, since no JavaScript value gives 1e400 or two equal keys. */
export interface Body {
	kind: string;
	text: string;
}
