// Runs a script's main function and ends the program with it, as clients may leave timers behind; the program fails if
// the function fails or takes longer than five minutes.
module.exports = (main) => {
  setTimeout(() => {
    console.error('it takes too long');
    process.exit(1);
  }, 300000);
  main().then(() => process.exit(0), (e) => {
    console.error(e);
    process.exit(1);
  });
};
