import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";

const KEY = "assay-invitation";
let kept: string | null = null;

/**
 * Returns the secret of the invitation with which this tab was opened. The function removes the
 * secret from the address and keeps it for the tab. The secret thus survives signing in, and no
 * later address contains it.
 */
export function useInvitation(): string {
	const hash = useLocation({ select: (location) => location.hash });
	const navigate = useNavigate();
	const [token, setToken] = useState(() => hash || recall());
	useEffect(() => {
		if (hash === "") return;
		keep(hash);
		setToken(hash);
		void navigate({ to: "/invitation", hash: "", replace: true });
	}, [hash, navigate]);
	return token;
}

/** Forgets the secret after it has been used. */
export function forgetInvitation(): void {
	kept = null;
	try {
		sessionStorage.removeItem(KEY);
	} catch {
		// The browser blocks the storage, so it holds no secret.
	}
}

function keep(token: string): void {
	kept = token;
	try {
		sessionStorage.setItem(KEY, token);
	} catch {
		// The browser blocks the storage, so after a reload the user has to open the link again.
	}
}

function recall(): string {
	if (kept !== null) return kept;
	try {
		return sessionStorage.getItem(KEY) ?? "";
	} catch {
		return "";
	}
}
