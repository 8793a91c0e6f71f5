/** The nonce of this answer's content security policy: without it no style element counts. */
export const styleNonce =
	document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')
		?.nonce ?? "";

// The scroll lock of dialogs looks for it here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });
