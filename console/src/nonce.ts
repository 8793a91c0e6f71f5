/**
 * The nonce in the content security policy of this response. Without it the browser ignores style
 * elements.
 */
export const styleNonce =
	document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')
		?.nonce ?? "";

// The scroll lock of dialogs reads the nonce from here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });
