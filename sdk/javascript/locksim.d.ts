/** What the lock is to use. Times are in milliseconds; those that the scenario does not state are missing. */
export interface Config {
  client: string
  servers: string[] // such as "10.0.0.1:6379"
  key: string
  ttl_ms: number
  timeout_ms?: number
  renew_ms?: number
  retry_ms?: number
  tries?: number
}

/** What is known of a lease. */
export interface Lease {
  value?: string // identifies the holder at the servers
  token?: number // for fencing
  ttl_ms?: number // how long it lasts from now
  until_ms?: number // when it ends on the wall clock, since 1970
}

export interface Lock {
  /** Acquires the lock; waitMs is for how long at most, 0 for once, undefined forever. */
  acquire(waitMs?: number): Promise<Lease | void> | Lease | void
  release(): Promise<unknown> | unknown
  /** Asks the servers whether the lock is still held; called only if open.verifies is true. */
  verify?(): Promise<unknown> | unknown
}

export interface Events {
  /** The library has told the program that it no longer holds the lock. */
  lost(): void
}

/** It is certain that the lock is not held; other errors leave open what the servers have done. */
export class Refused extends Error {}

export function run(open: ((config: Config, events: Events) => Promise<Lock> | Lock) & { verifies?: boolean }): Promise<never>
