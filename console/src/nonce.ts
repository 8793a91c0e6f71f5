/**
 * The nonce from the content security policy of this response. The browser ignores style elements
 * without it.
 */
export const styleNonce =
	document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')
		?.nonce ?? "";

// The library that locks scrolling behind dialogs reads the nonce from this global variable.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });
