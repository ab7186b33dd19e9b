// A view shows the reader's choice at once and sends it. Data that the server made before must not undo the choice.

export const PATIENCE = 3000; // ms; after this time, the view accepts the server's data even if it does not include the newest choice

/** Numbers the choices that are sent. The server returns the number of the newest choice that it has received. */
export class Turns {
  newest: number;
  now;
  sentAt: number;

  constructor(turn = 0, now = Date.now) {
    this.newest = turn;
    this.now = now;
    this.sentAt = 0;
  }

  /** The number of a choice that is sent now. */
  next() {
    this.sentAt = this.now();
    return (this.newest += 1);
  }

  /** For how many milliseconds data of this turn must wait for the response to a newer choice. */
  wait(turn: number) {
    return turn >= this.newest ? 0 : Math.max(0, this.sentAt + PATIENCE - this.now());
  }

  /** Data of this turn has come: the next choice has a higher number, even if another copy of the page sent the last one. */
  follow(turn: number) {
    this.newest = Math.max(this.newest, turn);
  }

  /** The response to the newest choice has come, or is no longer waited for. */
  settle() {
    this.sentAt = 0;
  }

  get waiting() {
    return this.sentAt > 0;
  }
}
