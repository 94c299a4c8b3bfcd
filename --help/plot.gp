set terminal svg size 720,420
set datafile separator ','
set key bottom left
set grid
set xlabel 'links off, %'
set xrange [0:75]
rows(side, pattern, load, order) = sprintf( \
  "< awk -F, '$1==%s && $2==\"%s\" && $3==%s && $4==\"%s\"' curves.csv", side, pattern, load, order)
set output 'regulation-power.svg'
set ylabel 'network power, % of all links on'
set yrange [75:100]
plot rows('4', 'uniform', '0.5', 'random') using ($5/1.28):($6/9.53) with linespoints title '4x4 torus', \
     rows('8', 'uniform', '0.5', 'random') using ($5/5.12):($6/38.11) with lines title '8x8 torus'
set output 'regulation-throughput-8x8.svg'
set ylabel 'throughput, % of all links on'
set yrange [50:102]
all(load, pattern) = real(system(sprintf("awk -F, '$1==8 && $2==\"%s\" && $3==%s && $5==0 {print $7; exit}' curves.csv", pattern, load)))
u = all('0.5', 'uniform'); v = all('1', 'uniform'); b = all('0.5', 'bit-reversal'); n = all('1', 'neighbour')
plot rows('8', 'neighbour', '1', 'random') using ($5/5.12):(100*$7/n) with linespoints title 'neighbour, load 1.0', \
     rows('8', 'uniform', '0.5', 'random') using ($5/5.12):(100*$7/u) with linespoints title 'uniform, load 0.5', \
     rows('8', 'uniform', '0.5', 'turns') using ($5/5.12):(100*$7/u) with lines dashtype 2 title 'uniform, load 0.5, by turns', \
     rows('8', 'bit-reversal', '0.5', 'random') using ($5/5.12):(100*$7/b) with linespoints title 'bit reversal, load 0.5', \
     rows('8', 'uniform', '1', 'random') using ($5/5.12):(100*$7/v) with linespoints title 'uniform, load 1.0'
